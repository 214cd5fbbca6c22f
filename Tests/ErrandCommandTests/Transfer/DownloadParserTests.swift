import Errand
import Testing

@testable import ErrandCommand

struct DownloadParserTests {
  private static let sum = String(repeating: "0a", count: 32)

  @Test func `defaults apply without options`() throws {
    let options = try DownloadParser.parse(["h.example/a.bin", ":80/b"])
    #expect(options.urls == ["https://h.example/a.bin", "http://localhost:80/b"])
    #expect(options.output == nil && options.folder == nil && options.checksum == nil && options.refresh == nil)
    #expect(options.parallel == 1 && options.width == 4 && options.bytesPerSecond == nil)
    #expect(options.replacesByChoice == nil && options.usesProxy && options.credential == .none)
    let isPlain = !options.continues && !options.startsOver && !options.waits && !options.isQuiet && !options.isVerbose
    #expect(isPlain && !options.takesServerName)
  }

  @Test func `every option is parsed`() throws {
    let options = try DownloadParser.parse([
      "u", "-o", "f", "-c", "-n", "--wait", "-v", "-q", "--no-proxy", "--sha256", Self.sum, "--parallel", "3",
      "--files=2", "--limit-rate", "2k", "--refresh", "sign film", "--resource", "film", "-H", "X-A: 1", "--user",
      "a:b",
      "--timeout", "2",
    ])
    #expect(options.output == "f" && options.continues && options.waits && options.isVerbose)
    #expect(options.replacesByChoice == false)
    #expect(options.isQuiet && !options.usesProxy && options.checksum?.hex == Self.sum)
    #expect(options.parallel == 3 && options.width == 2 && options.bytesPerSecond == 2_048)
    #expect(options.refresh == .command("sign film") && options.resource == "film")
    #expect(options.fields == [.init(name: "X-A", value: "1")] && options.timeout == .seconds(2))
    #expect(options.credential == .basic(user: "a", password: "b"))
    let other = try DownloadParser.parse(["u", "-d", "x", "-J", "--fresh", "--refresh", "HTTPS://h/x"])
    #expect(other.folder == "x" && other.takesServerName && other.startsOver)
    #expect(other.refresh == .page("HTTPS://h/x"))
  }

  @Test(
    arguments: [
      ([], "a URL is missing; it is optional only with -c, which resumes the downloads in the folder"),
      (["u", "-o", "f", "-d", "d"], "use either -o for a file or -d for a folder"),
      (["u", "v", "-o", "f"], "-o is for one URL; use -d for several URLs"),
      (["u", "v", "--sha256", sum], "a checksum is for one URL; download the other URLs separately"),
      (["u", "v", "--resource", "x"], "--resource is for one URL; download the other URLs separately"),
      (["u", "--sha256", sum, "--sha256", sum], "use only one checksum: --sha256 or --sha512"),
      (["u", "-c", "--fresh"], "-c resumes and --fresh starts over; use only one"),
      (["u", "-o", "f", "-J"], "-o and -J both name the file; use only one"),
      (["-c", "--refresh", "x"], "--refresh and --resource need a URL"),
      (["u", "-o", "-"], "a download needs a file; “errand send URL” writes to a pipe"),
      (["u", "-d", ""], "-d needs a value that is not empty"),
      (["u", "--refresh", " "], "--refresh needs a command or a URL"),
      (["u", "--parallel", "17"], "--parallel needs a number from 1 to 16, not “17”"),
      (["u", "--files", "0"], "--files needs a number from 1 to 16, not “0”"),
      (["u", "--user", "a:b", "--bearer", "c"], "use only one credential: --user or --bearer"),
      (["a:b@h/x"], "remove name and password from the URL, and give them with --user name:password"),
      (["http://\u{301}a:b@h/x"], "remove name and password from the URL, and give them with --user name:password"),
      (["a:b@\u{301}h/x"], "remove name and password from the URL, and give them with --user name:password"),
    ])
  func `wrong arguments are named`(words: [String], sentence: String) {
    let error = #expect(throws: UsageError.self) { try DownloadParser.parse(words) }
    #expect(error?.description == sentence)
  }
}
