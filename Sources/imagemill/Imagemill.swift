@main struct Imagemill { static func main() {} }
