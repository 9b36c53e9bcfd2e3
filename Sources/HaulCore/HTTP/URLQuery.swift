extension URLReference {
    /// Query keys (lower case) of the usual signing schemes and tokenised links.
    private static let signatureKeys: Set<String> = [
        "signature", "sig", "sign", "token", "access_token", "auth_token", "auth_key", "authkey", "expires",
        "expire",
        "exp", "key-pair-id", "policy", "hmac", "hdnea", "hdnts", "jwt", "ticket", "q-signature", "wssecret",
        "wstime",
        "st", "verify", "download_token", "x-amz-signature", "x-amz-credential", "x-amz-security-token",
        "x-goog-signature", "x-goog-credential", "x-oss-signature", "x-tos-signature", "ossaccesskeyid",
        "awsaccesskeyid", "googleaccessid",
    ]

    /// Whether the link looks as if it stops working after a while: a guess from the names in its query.
    package var isSigned: Bool {
        queryItems.contains { URLReference.signatureKeys.contains(ASCII.lowered($0.name)) }
    }

    /// The value of the first item of that name (case does not matter), decoded as forms are; `nil` when absent
    /// or not UTF-8.
    package func queryValue(named name: String) -> String? {
        queryItems.first { HeaderFields.same($0.name, name) }
            .flatMap { ASCII.text(PercentCoding.decoded($0.value.replacing("+", with: " ").utf8)) }
    }

    /// Names decoded, values still coded.
    private var queryItems: [(name: String, value: Substring)] {
        (query ?? "").split(whereSeparator: { $0 == "&" || $0 == ";" }).map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (
                String(decoding: PercentCoding.decoded(parts[0].utf8), as: UTF8.self),
                parts.count > 1 ? parts[1] : ""
            )
        }
    }
}
