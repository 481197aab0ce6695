// Documents held against the program's schemas by somebody else's validator.
import TestSupport

@testable import System

extension CommandRunner {
    /// Validates a JSON or YAML document; prints what is wrong with it.
    private static let validator = """
        import json, sys
        try:
            import jsonschema, yaml
        except ImportError as error:
            sys.exit("%s: run `make deps`" % error)
        schema = json.load(open(sys.argv[1]))
        jsonschema.Draft202012Validator.check_schema(schema)
        wrong = 0
        for name in sys.argv[2:]:
            text = open(name).read()
            document = json.loads(text) if name.endswith("json") else yaml.safe_load(text)
            for error in jsonschema.Draft202012Validator(schema).iter_errors(document):
                print("%s: %s: %s" % (name, "/".join(map(str, error.path)), error.message))
                wrong = 1
        sys.exit(wrong)
        """

    /// Holds documents against a schema that the program prints.
    func validate(_ document: String, _ files: [String]) async throws -> CommandResult {
        try await validate(files, schema: run("schema", document).output, named: document)
    }

    /// Holds documents against any schema.
    func validate(_ files: [String], schema: String, named document: String) async throws -> CommandResult {
        try folder.write(Self.validator, to: "validate.py")
        try folder.write(schema, to: document + ".schema.json")
        let names = files.map { "'\($0)'" }.joined(separator: " ")
        return try await shell("/usr/bin/python3 validate.py \(document).schema.json \(names)")
    }
}
