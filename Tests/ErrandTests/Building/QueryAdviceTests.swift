import Errand
import TestSupport
import Testing

/// The warning about an argument that repeats a name of the path's query.
@Suite(.enabled(if: isDebugBuild)) struct QueryAdviceTests {
  private struct Repeated: APIRequest {
    var path: Path { "/posts?q=s3cret&page=2" }
    var arguments: Arguments { ["page": 1, "limit": 5] }
  }

  @Test func `argument with another value is explained`() async {
    #expect(
      await ScriptedClient.warnings(Repeated()) == [
        "Repeated: the URL contains the argument \"page\" of the path's query again with another value, and a server "
          + "uses only one of them; pass a link of a server as `RequestPath(link:)`, which adds no arguments, or "
          + "remove the argument."
      ])
  }

  private struct Linked: APIRequest {
    var path: Path { Path(link: "http://h.example/posts?page=2") }
    var arguments: Arguments { ["page": 1] }
  }

  /// The property is data of the arguments, which a link does not send.
  private struct Continued: APIRequest {
    let parameters = ["size": 77]
    var path: Path { Path(link: "http://h.example/posts?page=2") }
    var arguments: Arguments { ["size": parameters["size"]] }
  }

  @Test func `link leaves properties unjudged`() async {
    #expect(await ScriptedClient.warnings(Continued()).isEmpty)
  }

  private struct Same: APIRequest {
    var path: Path { "/posts?page=1" }
    var arguments: Arguments { ["page": 1] }
  }

  private struct List: APIRequest {
    var path: Path { "/posts?tag[]=a&tag[]=b#page" }
    var arguments: Arguments { ["page": 1] }
  }

  @Test func `other queries are silent`() async {
    #expect(await ScriptedClient.warnings(Linked()).isEmpty)
    #expect(await ScriptedClient.warnings(Same()).isEmpty)
    #expect(await ScriptedClient.warnings(List()).isEmpty)
  }
}
