import ErrandCore
import ErrandTesting
import Testing

/// Tests the short forms of scripted responses.
struct ScriptedAnswerTests {
  @Test func `fields are added to content type`() {
    let text = ScriptedAnswer.text("a", status: 201, fields: ["ETag": "\"1\""])
    #expect(text.head.status == 201)
    #expect(text.head.fields == ["ETag": "\"1\"", "Content-Type": "text/plain; charset=utf-8"])
    #expect(ScriptedAnswer.json("{}").head.fields == ["Content-Type": "application/json"])
  }

  @Test func `explicit content type takes precedence`() {
    let problem: HTTPFields = ["content-type": "application/problem+json"]
    #expect(ScriptedAnswer.json("{}", status: 422, fields: problem).head.fields == problem)
  }

  @Test func `kind shows whether request was sent`() {
    let unsent: Set<TransportFailure.Kind> = [
      .offline, .nameLookup, .refused, .connectTimeout, .unsupported, .forbiddenAddress, .proxy, .proxyCredentials,
      .tls, .certificateExpired, .certificateNotYetValid, .certificateSelfSigned, .unknownAuthority, .wrongHost,
      .pinMismatch, .tlsVersion,
    ]
    for kind in TransportFailure.Kind.allCases {
      #expect(ScriptedAnswer.failure(kind).failure?.isCertainlyNotSent == unsent.contains(kind), "\(kind)")
      #expect(ScriptedAnswer.text("half").breakingOff(kind).breakage?.isCertainlyNotSent == false)
    }
  }
}
