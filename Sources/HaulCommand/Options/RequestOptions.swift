import HaulCore
import HaulEngine

extension OptionTable {
    /// What the requests say, and who asks.
    static let request: [OptionDefinition] = [
        OptionDefinition(
            "header", "H", "NAME: VALUE", in: .request, .download, "send a header field (repeatable)",
            manual: """
                It goes to the origin of the URL only, never to another host a redirect or mirror names. @FILE takes the \
                fields from a file, one a line.
                """,
            secret: .headerValue
        ) { (configuration, input) throws(HaulError) in
            if let path = input.filePath {
                let lines = try input.readFile(path)
                configuration.download.headers += try HeaderSyntax.parse(lines: lines, label: input.label)
            } else {
                configuration.download.headers.append(try HeaderSyntax.parse(input.text, label: input.label))
            }
        },
        OptionDefinition(
            "user", "u", "USER:PASSWORD", in: .request, .download, "sign in at the URL's origin",
            manual: """
                Basic, Digest, FTP and SFTP. @FILE takes the first line of a file, and the variable HAUL_USER does the \
                same as the option; both keep the password out of the shell's history.
                """,
            secret: .whole
        ) { (configuration, input) throws(HaulError) in
            let (user, password) = try input.userAndPassword()
            configuration.download.credentials = Credentials(user: user, password: password)
        },
        OptionDefinition(
            "bearer", nil, "TOKEN", in: .request, .download, "send Authorization: Bearer TOKEN",
            manual: "Also @FILE, or the variable HAUL_BEARER.", secret: .whole
        ) { (configuration, input) throws(HaulError) in
            let token = try input.textOrFirstLine()
            guard !token.isEmpty, HeaderSyntax.isValue(token) else {
                throw input.bad("a token is one line of text", isSecret: true)
            }
            configuration.download.bearer = token
        },
        .flag(
            "netrc", in: .request, .trustedDownload, "take accounts from ~/.netrc",
            manual: "Or from the file that the variable NETRC names."
        ) { $0.usesNetrc = $1 },
        OptionDefinition(
            "netrc-file", nil, "FILE", in: .request, .trustedDownload, "take accounts from FILE instead",
            completion: .file
        ) { (configuration, input) throws(HaulError) in
            configuration.download.connection.netrcFile = try input.nonEmpty()
        },
        OptionDefinition(
            "aws-sigv4", nil, "PROVIDER", in: .request, .download, "sign requests, such as aws:amz:REGION:s3",
            manual: "With the key and secret of --user, as in curl."
        ) { (configuration, input) throws(HaulError) in
            configuration.download.awsSigV4 = try input.nonEmpty()
        },
        OptionDefinition(
            "cookies", nil, "FILE", in: .request, .trustedDownload, "send cookies of a Netscape cookie file",
            manual: "As browsers' add-ons and curl write it. Each cookie goes only to its own domain.",
            completion: .file
        ) { (configuration, input) throws(HaulError) in
            configuration.cookieFiles.append(try input.nonEmpty())
        },
        OptionDefinition(
            "save-cookies", nil, "FILE", in: .request, .command, "write the cookies to FILE at the end",
            manual: "In the same format, readable by you alone.", completion: .file
        ) { (configuration, input) throws(HaulError) in
            configuration.saveCookies = try input.nonEmpty()
        },
        OptionDefinition(
            "user-agent", "A", "TEXT", in: .request, .download, "what to call ourselves"
        ) { (configuration, input) throws(HaulError) in
            guard HeaderSyntax.isValue(input.text) else {
                throw input.bad("one line of text", isSecret: true)
            }
            configuration.download.userAgent = input.text
        },
        OptionDefinition(
            "referer", "e", "URL", in: .request, .download, "the page that links to the file", secret: .url
        ) { (configuration, input) throws(HaulError) in
            guard HeaderSyntax.isValue(input.text) else {
                throw input.bad("one line of text", isSecret: true)
            }
            configuration.download.referer = input.text
        },
        OptionDefinition(
            "method", "X", "METHOD", in: .request, .download, "the request method (default GET)",
            manual: "Only GET is sent in several parts or again with a range.", isSetting: false
        ) { (configuration, input) throws(HaulError) in
            let method = input.text.uppercased()
            guard HeaderSyntax.isToken(method) else { throw input.bad("a method such as GET or POST") }
            guard method != "CONNECT", method != "HEAD" else {
                throw input.bad("a method that gives a file: use GET or POST")
            }
            configuration.download.method = method
        },
        OptionDefinition(
            "data", nil, "TEXT", in: .request, .download, "send TEXT as the body, with POST",
            manual: "@FILE sends the bytes of a file.", secret: .whole, isSetting: false
        ) { (configuration, input) throws(HaulError) in
            if let path = input.filePath {
                configuration.download.body = try input.readFile(path)
            } else {
                configuration.download.body = Array(input.text.utf8)
            }
        },
    ]
}
