import Pipeline

extension SVGSource: SourceDecoder {
    static var blockedClass: String? { "VipsForeignLoadSvg" }

    /// With a text and a picture inside, so that all that draws them is loaded.
    static let sample = """
        PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHhtbG5zOnhsaW5rPSJodHRwOi8vd3d3LnczLm9yZy8xOTk5L3hsaW5rIi\
        B3aWR0aD0iMTYiIGhlaWdodD0iMTYiPjxpbWFnZSB3aWR0aD0iOCIgaGVpZ2h0PSI4IiB4bGluazpocmVmPSJkYXRhOmltYWdlL3BuZztiYXNl\
        NjQsaVZCT1J3MEtHZ29BQUFBTlNVaEVVZ0FBQUJBQUFBQVFDQUlBQUFDUWtXZzJBQUFBQ1hCSVdYTUFBQVBvQUFBRDZBRzFlMUpyQUFBQUVFbE\
        VRVlFva1dOZ0dBV2pZQlRBQUFBREVBQUJDM3VSaEFBQUFBQkpSVTVFcmtKZ2dnPT0iLz48dGV4dCB5PSIxMiIgZm9udC1zaXplPSIxMiI+QWc8\
        L3RleHQ+PC9zdmc+
        """
}
