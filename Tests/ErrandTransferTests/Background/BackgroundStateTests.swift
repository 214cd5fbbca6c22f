import ErrandCore
import Foundation
import Testing

@testable import ErrandBackground

/// The records of background transfers.
struct BackgroundStateTests {
  @Test(arguments: [
    BackgroundPhase.running, .missed, .cancelling, BackgroundDecisionTests.cameFile,
    BackgroundDecisionTests.placing, .failed(BackgroundDecisionTests.fault),
  ])
  func `a record survives encoding and decoding`(phase: BackgroundPhase) throws {
    let record = Samples.record("a", phase: phase, digests: ["sha-256"])
    #expect(BackgroundDownloadState.read(try record.encoded()) == record)
  }

  @Test func `invalid record bytes are rejected`() throws {
    let bytes = try Samples.record("a").encoded()
    for length in 0..<bytes.count { #expect(BackgroundDownloadState.read(bytes.prefix(length)) == nil) }
    let newer = String(decoding: bytes, as: UTF8.self).replacing("\"format\":1", with: "\"format\":2")
    #expect(BackgroundDownloadState.read(Data(newer.utf8)) == nil)
  }

  @Test func `invalid status ranges are skipped`() throws {
    let text = String(decoding: try Samples.record("a").encoded(), as: UTF8.self)
    let damaged = text.replacing("[[200,299]]", with: "[[299,200],[200],[]]")
    let record = try #require(BackgroundDownloadState.read(Data(damaged.utf8)))
    #expect(!record.statusRule.accepts(200))
    #expect(Samples.record("a").statusRule.accepts(206) && !Samples.record("a").statusRule.accepts(404))
  }

  @Test func `a recorded response contains no secret`() throws {
    let fields: HTTPFields = ["Content-Type": "text/plain", "Set-Cookie": "id=s3cret", "Content-Length": "3"]
    let stored = StoredResponse(ResponseHead(status: 200, fields: fields), Samples.url, to: .download, bytes: 3)
    let text = String(decoding: try JSONEncoder().encode(stored), as: UTF8.self)
    #expect(!text.contains("s3cret") && !text.contains("film"))
    #expect(stored.head.fields.all.map(\.name.rawValue) == ["Content-Length", "Content-Type"])
    #expect(stored.response(Data())?.url.host == "h.example")
  }

  @Test(arguments: [
    ("/h/a/t", "/h", "/x", "/x/a/t"), ("/h/a/t", "/h/", "/x/", "/x/a/t"), ("/hh/t", "/h", "/x", "/hh/t"),
    ("/h", "/h", "/x", "/h"), ("/d/t", "/h", "/x", "/d/t"), ("/d/t", "/", "/x", "/d/t"), ("t", "", "/x", "t"),
    ("/h/\u{301}t", "/h", "/x", "/x/\u{301}t"),
  ])
  func `a path below home follows home`(path: String, old: String, new: String, place: String) {
    #expect(RecordedPlace(path, home: old).path(home: new) == place)
    #expect(RecordedPlace(path, home: old).path(home: old) == path)
  }

  @Test(arguments: [
    ("/private/var/m/A/t", "/var/m/A", "/var/m/B/t"), ("/var/m/A/t", "/private/var/m/A", "/var/m/B/t"),
    ("/var/m/A/t", "/var/m/A", "/var/m/B/t"), ("/private/var/m/A/t", "/private/var/m/A/", "/var/m/B/t"),
    ("/private/var/other/t", "/var/m/A", "/private/var/other/t"), ("/private/h/t", "/h", "/private/h/t"),
  ])
  func `both names of a home folder are equal`(path: String, old: String, place: String) {
    #expect(RecordedPlace(path, home: old, linksVar: true).path(home: "/var/m/B") == place)
  }

  @Test func `other platforms have no linked folder`() {
    let place = RecordedPlace("/private/var/m/A/t", home: "/var/m/A", linksVar: false)
    #expect(place.path(home: "/var/m/B") == "/private/var/m/A/t")
  }
}
