import HaulCore

/// The head that an FTP or SFTP server would have sent, were it an HTTP server.
enum SyntheticHead {
    /// The head for what libcurl knows.
    ///
    /// `remaining`: bytes that will come; `modified`: seconds since 1970; `range`: what was asked, `nil`: everything;
    /// `knownLength`: length of the file in an earlier answer.
    static func make(remaining: Int64?, modified: Int64?, range: ByteRange?, knownLength: Int64?)
        -> ResponseHead
    {
        var fields = HeaderFields()
        if let modified { fields.all.append(HeaderField("Last-Modified", HTTPDate.imfFixdate(modified))) }
        guard let range, range.lower > 0 || range.upper != .max, let remaining else {
            if let remaining { fields.all.append(HeaderField("Content-Length", String(remaining))) }
            return ResponseHead(status: 200, fields: fields)
        }
        let last = range.lower + remaining - 1
        // Of an open range the rest tells the total; of a closed one libcurl tells only what was asked.
        let total = range.upper == .max ? range.lower + remaining : knownLength ?? range.upper
        fields.all.append(HeaderField("Content-Length", String(remaining)))
        fields.all.append(HeaderField("Content-Range", "bytes \(range.lower)-\(last)/\(total)"))
        return ResponseHead(status: 206, fields: fields)
    }
}
