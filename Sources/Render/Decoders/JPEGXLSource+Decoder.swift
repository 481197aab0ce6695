import Pipeline

extension JPEGXLSource: SourceDecoder {
    static var blockedClass: String? { "VipsForeignLoadJxl" }

    static let sample = """
        /wpDBgGwAJNhCQCACpVRxg1ezvV8+aHDYtrGdYa22rawhLHZXhgkJBQSYwMADCMGKkkA
        """
}
