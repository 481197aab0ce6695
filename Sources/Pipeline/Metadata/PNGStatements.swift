// What the texts of a PNG state, by their keywords. https://www.w3.org/TR/png-3/#11keywords

extension Statements {
    /// - Parameter texts: by keywords, of which others than the four that say something of the picture are passed over.
    package init(pngTexts texts: [(keyword: String, text: String)]) {
        func text(_ keyword: String) -> String? {
            texts.first { $0.keyword == keyword }.flatMap { Rights.cleaned($0.text) }
        }
        self.init(
            rights: Rights(creator: text("Author").map { [$0] } ?? [], copyright: text("Copyright")),
            title: text("Title"), caption: text("Description"))
    }

    /// Whether it states what the text of a keyword does.
    package func states(pngKeyword keyword: String) -> Bool {
        switch keyword {
        case "Author": !rights.creator.isEmpty
        case "Copyright": rights.copyright != nil
        case "Title": title != nil
        case "Description": caption != nil
        default: false
        }
    }
}
