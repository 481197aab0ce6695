import Pipeline

extension GIFSource: SourceDecoder {
    static let sample = """
        R0lGODlhEAAQAIAAAEdwTAAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQFAAAAACwAAAAAEAAQAAACDoyPqcvtD6OctNqLsz4FADs=
        """
}
