import ErrandGenerate
import Testing

@testable import ErrandCommand

struct GenerateArgumentsTests {
  @Test func `all options are read`() throws {
    let words = [
      "api.json", "--into", "Out", "--tag", "users", "--path=/users/*", "--access", "public", "--name", "Shop",
      "--check",
    ]
    let arguments = try GenerateArguments(words)
    var options = GenerateOptions()
    (options.tags, options.paths, options.access, options.name) = (["users"], ["/users/*"], .public, "Shop")
    #expect(arguments.document == "api.json")
    #expect(arguments.folder == "Out")
    #expect(arguments.isCheck)
    #expect(arguments.options == options)
  }

  @Test func `the host of a recording is read`() throws {
    #expect(try GenerateArguments(["a.HAR", "--into", "d", "--host", "api.example"]).host == "api.example")
  }

  @Test(arguments: [
    [], ["a.json"], ["--into", "d"], ["a.json", "b.json", "--into", "d"], ["a.json", "--into", ""],
    ["a.json", "--into", "d", "--access", "open"], ["a.json", "--into", "d", "--path", "users"],
    ["a.json", "--into", "d", "--name", "my shop"], ["a.json", "--into", "d", "--name", "shop"],
    ["a.json", "--into", "d", "--tag", ""], ["a.json", "--into", "d", "--host", "a.example"],
  ])
  func `wrong arguments are rejected`(words: [String]) {
    #expect(throws: UsageError.self) { try GenerateArguments(words) }
  }
}
