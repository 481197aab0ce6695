import Pipeline

extension PDFSource: SourceDecoder {
    static var blockedClass: String? { "VipsForeignLoadPdf" }

    /// With a text in a font that the file does not bring along.
    static let sample = """
        JVBERi0xLjQKMSAwIG9iajw8L1R5cGUvQ2F0YWxvZy9QYWdlcyAyIDAgUj4+ZW5kb2JqCjIgMCBvYmo8PC9UeXBlL1BhZ2VzL0tpZHNbMyAwIF\
        JdL0NvdW50IDE+PmVuZG9iagozIDAgb2JqPDwvVHlwZS9QYWdlL1BhcmVudCAyIDAgUi9NZWRpYUJveFswIDAgMTYgMTZdL0NvbnRlbnRzIDQg\
        MCBSL1Jlc291cmNlczw8L0ZvbnQ8PC9GPDwvVHlwZS9Gb250L1N1YnR5cGUvVHlwZTEvQmFzZUZvbnQvSGVsdmV0aWNhPj4+Pj4+Pj5lbmRvYm\
        oKNCAwIG9iajw8L0xlbmd0aCAyOT4+c3RyZWFtCkJUIC9GIDEyIFRmIDEgMyBUZCAoQWcpIFRqIEVUCmVuZHN0cmVhbWVuZG9iagp4cmVmCjAg\
        NQowMDAwMDAwMDAwIDY1NTM1IGYgCjAwMDAwMDAwMDkgMDAwMDAgbiAKMDAwMDAwMDA1MiAwMDAwMCBuIAowMDAwMDAwMTAxIDAwMDAwIG4gCj\
        AwMDAwMDAyNDkgMDAwMDAgbiAKdHJhaWxlcjw8L1NpemUgNS9Sb290IDEgMCBSPj4Kc3RhcnR4cmVmCjMyMwolJUVPRgo=
        """
}
