import Errand
import Testing

@testable import ErrandCommand

struct UploadParserTests {
  @Test func `a single file uses PUT`() throws {
    let options = try UploadParser.parse(["dir/cat.jpg", "h.example/cats"])
    #expect(options.files == ["dir/cat.jpg"] && options.url == "https://h.example/cats" && options.name == "cat.jpg")
    let request = ShellUpload(options: options)
    #expect(request.method == .put && !options.isForm && options.method == nil)
  }

  @Test(
    arguments: [
      (["a b.jpg", "h/"], "https://h/a%20b.jpg"), (["x/ü", "h/d/?q=1"], "https://h/d/%C3%BC?q=1"),
      (["a", "h"], "https://h"), (["a", "h/", "--multipart"], "https://h/"),
    ])
  func `a URL ending in a slash gets the file name`(words: [String], url: String) throws {
    #expect(try UploadParser.parse(words).url == url)
  }

  @Test func `every option is parsed`() throws {
    let options = try UploadParser.parse([
      "a", "b", "u", "--field", "t=x", "--field", "n:=[1]", "--name", "image", "--type", "image/png", "--gzip",
      "--expect", "-X", "PATCH", "-H", "X-A: 1", "--bearer", "t", "--timeout", "2", "-v", "-q", "--no-proxy",
    ])
    #expect(options.files == ["a", "b"] && options.isForm && options.partName == "image" && options.name == "2 files")
    #expect(options.items == [.init(name: "t", value: .string("x")), .init(name: "n", value: .array([.integer(1)]))])
    #expect(options.type == "image/png" && options.isCompressed && options.asksFirst && options.method == "PATCH")
    #expect(options.fields.count == 1 && options.credential == .bearer("t") && options.timeout == .seconds(2))
    #expect(options.isVerbose && options.isQuiet && !options.usesProxy)
    #expect(ShellUpload(options: options).method == HTTPMethod("PATCH"))
  }

  @Test(
    arguments: [
      ([], "a file and a URL are missing"), (["f"], "a file and a URL are needed, in this order"),
      (["a", "b", "u"], "several files need --multipart, which sends them as one form"),
      (["a", "u", "--name", "x"], "--name is for forms; use it with --multipart"),
      (["", "u"], "a file name is empty; write the path of a file"),
      (["a", "u", "--user", "a:b", "--bearer", "c"], "use only one credential: --user or --bearer"),
      (
        ["a", "u", "--field", "x"],
        "“x” is not an argument; write name=value, or name:=json for JSON"
      ),
    ])
  func `wrong arguments are named`(words: [String], sentence: String) {
    let error = #expect(throws: UsageError.self) { try UploadParser.parse(words) }
    #expect(error?.description == sentence)
  }
}
