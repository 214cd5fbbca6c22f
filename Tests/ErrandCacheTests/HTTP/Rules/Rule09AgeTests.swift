import Testing

@testable import ErrandCache
@testable import ErrandCore

/// Rules 9 and 10: the age of a response, and its `Age` field.
struct Rule09AgeTests {
  @Test(
    arguments: [
      ("", 0, 0, 0, "0"), ("", 0, 0, 7, "7"), ("", 0, 0, 7.9, "7"), ("Age: 100", 0, 0, 7, "107"),
      ("Age: 100", -3, 0, 7, "110"), ("", -3, 0, 7, "10"), ("Date: \(Scene.date(-50))", 0, 0, 7, "57"),
      ("Date: \(Scene.date(-50)) | Age: 100", 0, 0, 7, "107"), ("Date: \(Scene.date(-200)) | Age: 100", 0, 0, 7, "207"),
      ("Date: \(Scene.date(50))", 0, 0, 7, "7"), ("Date: never", 0, 0, 7, "7"), ("Age: 5, 100", 0, 0, 0, "5"),
      ("Age: x | Age: 5", 0, 0, 0, "5"), ("Age: 5 | Age: 100", 0, 0, 0, "5"), ("Age: -5", 0, 0, 0, "0"),
      ("Age: 5.0", 0, 0, 0, "0"), ("Age: \"5\"", 0, 0, 0, "0"), ("Age: 5;x", 0, 0, 0, "0"), ("Age:", 0, 0, 0, "0"),
      ("Age: 99999999999999999999", 0, 0, 0, "2147483648"), ("", 0, 20, 27, "27"),
    ] as [(String, Double, Double, Double, String)])
  func `rules 9 and 10: Age is recomputed`(
    fields: String, sent: Double, came: Double, now: Double, age: String
  ) throws {
    let head = Scene.stored("Cache-Control: max-age=2147483648 | \(fields)", sent: sent, came: came)
    #expect(CacheAge.field(of: head, now: Scene.at(now)).value == age)
    #expect(CacheRules.served(head, at: Scene.at(now)).fields.values(of: "Age") == [age])
  }

  @Test func `rule 10: served response has Age`() throws {
    let head = Scene.stored("Cache-Control: max-age=60 | Age: 5")
    guard case .serve(let serving) = try Scene.rules().decide(head, at: Scene.at(10)) else {
      Issue.record("not served")
      return
    }
    #expect(serving.head.fields.values(of: "Age") == ["15"] && serving.freshness.secondsLeft == 45)
  }

  @Test(
    arguments: [
      ("Age: 59", 0, 0.5, "fresh"), ("Age: 60", 0, 0, "validate"), ("Age: 50", 0, 10, "validate"),
      ("Age: 50", -10, 0, "validate"), ("Date: \(Scene.date(-60))", 0, 0, "validate"),
      ("Date: \(Scene.date(-59))", 0, 0.5, "fresh"),
    ] as [(String, Double, Double, String)])
  func `rule 9: age includes upstream time`(fields: String, sent: Double, now: Double, word: String) throws {
    let head = Scene.stored("Cache-Control: max-age=60 | \(fields)", sent: sent)
    #expect(Scene.word(try Scene.rules().decide(head, at: Scene.at(now))) == word)
  }

  /// Both clocks, for an entry of this process and for one of an earlier process.
  @Test(
    arguments: [
      (59, 59, "fresh", "fresh"), (60, 60, "validate", "validate"), (-1_000, 59, "fresh", "validate"),
      (-1_000, 60, "validate", "validate"), (-0.001, 0.5, "fresh", "validate"), (1_000, 1, "validate", "validate"),
      (59, -5, "validate", "fresh"),
    ] as [(Double, Double, String, String)])
  func `rule 9: clock jumps are handled`(wall: Double, monotonic: Double, here: String, fromDisk: String) throws {
    for policy in [CachePolicy.http, .lifetime(.seconds(60))] {
      let rules = try Scene.rules(policy: policy)
      let now = Scene.at(wall: wall, monotonic: monotonic)
      for (isFromDisk, word) in [(false, here), (true, fromDisk)] {
        let head = Scene.stored("Cache-Control: max-age=60", policy: policy, isFromDisk: isFromDisk)
        #expect(Scene.word(rules.decide(head, at: now)) == word)
      }
    }
  }

  @Test func `extreme times do not trap`() throws {
    for milliseconds in [Int64.min, -1, 0, .max] {
      let now = CacheMoment(wall: WallTime(milliseconds: milliseconds), monotonic: .init(nanoseconds: milliseconds))
      for other in [Int64.min, 0, .max] {
        var head = Scene.stored("Cache-Control: max-age=99999999999 | Age: 99999999999 | Expires: x")
        head.requestTime = WallTime(milliseconds: other)
        head.responseTime = WallTime(milliseconds: -1 - other)
        head.received = other == 0 ? nil : MonotonicInstant(nanoseconds: other)
        for request in ["", "Cache-Control: max-age=5, max-stale", "Cache-Control: min-fresh=99999999999, max-stale=5"]
        {
          _ = try Scene.rules(.get, request).decide(head, at: now)
        }
        #expect(Int64(CacheAge.field(of: head, now: now).value) ?? -1 >= 0)
      }
    }
  }
}
