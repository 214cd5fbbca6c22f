import Errand
import ErrandHTTP
import ErrandCache
import ErrandCore
import ErrandJSON
import ErrandTransfer
import Foundation
import Testing
import TestSupport

/// Fields of 128 KiB that are made to be slow to parse. A parser that rereads its input fails here.
@Suite(.serialized) struct HostileFieldTests {
  /// A parser, and pieces that are expensive for it when they are repeated.
  struct Reader: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var head = ""
    let pieces: [String]
    let read: @Sendable (String) -> Void
  }

  private static func field(_ name: HTTPFieldName, _ value: String) -> HTTPFields {
    HTTPFields([HTTPField(name, value)])
  }

  private static let common = [",", " ", "\t", "\"", "\\", "\"\\", ";", "=", "a=\"", ",\"", "é", "\u{301}", "a, "]

  static let readers = [
    Reader(testDescription: "Content-Type", head: "a/b;x=", pieces: common) { _ = MediaType($0) },
    Reader(testDescription: "Content-Disposition", head: "a;", pieces: common + ["filename=\"", "filename*=UTF-8''%"]) {
      _ = FileName.of(field("Content-Disposition", $0))
    },
    Reader(testDescription: "Cache-Control", pieces: common + ["max-age=", "a=\"\\", "no-store,"]) {
      _ = CacheControl([$0])
    },
    Reader(testDescription: "Pragma", pieces: common) { _ = CacheControl(request: field("Pragma", $0)) },
    Reader(testDescription: "Vary", pieces: [",", "a,", " ", "\"", "\\,", "*,"]) { text in
      let request = field("Accept", "a")
      _ = Varying(response: field("Vary", text), request: request, changedFields: [], isDeclared: true, salt: [1])
    },
    Reader(testDescription: "ETag", head: "\"", pieces: ["a", "\"", "W/\"", "\\"]) { _ = EntityTag($0) },
    Reader(testDescription: "Date", pieces: ["S", "Sun, ", " ", "Sunday, 06-", "é"]) {
      _ = HTTPDate.milliseconds(of: $0, now: 0)
    },
    Reader(testDescription: "Retry-After", pieces: ["1", " ", "Sun, ", "-"]) {
      _ = RetryAfter.delay(in: field("Retry-After", $0), now: 0)
    },
    Reader(testDescription: "Content-Range", head: "bytes ", pieces: ["1", "-", "/", "1-1/", " "]) {
      _ = ContentRange($0)
    },
    Reader(testDescription: "Repr-Digest", pieces: common + ["(", "a=(", "a=:", "a=%\"", "a;b=", "a=1,"]) {
      _ = DigestFields(field("Repr-Digest", $0), known: [])
    },
    Reader(testDescription: "WWW-Authenticate", pieces: common + ["Digest ", "a=", "a=\"", "Basic a==", ","]) {
      _ = AuthenticationChallenge.all(in: [$0])
    },
    Reader(testDescription: "Location", pieces: ["/", "../", "/..", "./", "@", ":", "?", "#", "%", "é", "/\u{301}"]) {
      let base = try? HTTPURL("http://h/a/b")
      _ = try? base?.resolving($0)
      _ = try? base?.resolving("//" + $0)
      _ = Redaction.url("http://h/" + $0)
    },
    Reader(testDescription: "path in JSON", pieces: ["a.", "[0]", "[", "[\"", "\\", "é"]) {
      _ = try? JSONPath(parsing: $0)
    },
  ]

  /// The CPU time of this thread in nanoseconds, which does not depend on other load of the machine.
  private static func work(_ reader: Reader, _ piece: String, _ count: Int) -> Int {
    func now() -> Int {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    let text = reader.head + String(repeating: piece, count: count / piece.utf8.count)
    let start = now()
    reader.read(text)
    return now() - start
  }

  /// Twice the text takes about twice as long. A parser that rereads its input would take four times as long, and minutes
  /// for a megabyte. A few milliseconds are tolerated as noise.
  @Test(arguments: readers) func `parsing time is linear in field length`(reader: Reader) {
    let half = isSanitized ? 16 << 10 : 64 << 10
    for piece in reader.pieces {
      let (short, long) = (Self.work(reader, piece, half), Self.work(reader, piece, 2 * half))
      // Measures again if other load disturbed the first measurement.
      let isLinear = { (short: Int, long: Int) in Double(long) <= 2.5 * Double(short) + 5e6 }
      let holds =
        isLinear(short, long)
        || (0..<3).contains { _ in isLinear(Self.work(reader, piece, half), Self.work(reader, piece, 2 * half)) }
      #expect(holds, "\(piece.debugDescription): \(short) ns, then \(long) ns")
    }
  }
}
