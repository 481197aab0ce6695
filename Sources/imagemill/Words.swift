// Numbers in sentences.
import Pipeline

/// `; 4 other files passed over`: files that a search has found and that are no pictures. Empty if there are none.
func passedOverClause(_ count: Int) -> String {
    count == 0 ? "" : "; \(counted(count, "other file")) passed over"
}
