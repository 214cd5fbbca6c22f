import ErrandTesting
import Testing

@testable import ErrandCache
@testable import ErrandCore

struct CacheControlTests {
  @Test(
    arguments: [
      ("max-age=60", 60), ("MAX-AGE=60", 60), ("public,max-age=60", 60), (" , ,max-age=60 , ", 60), ("max-age=060", 60),
      (#"max-age="60""#, 60), (#"max-age="6\0""#, 60), ("max-age=60\t,public", 60), ("max-age=0", 0),
      ("max-age=2147483648", 1 << 31), ("max-age=2147483647", (1 << 31) - 1), ("max-age=99999999999999999999", 1 << 31),
      ("max-age=60, max-age=30", 30), ("max-age=30, max-age=60", 30), ("max-age=60, max-age=x", 0),
      ("max-age", 0), ("max-age=", 0), ("max-age=-1", 0), ("max-age=+60", 0), ("max-age=60.5", 0), ("max-age=60s", 0),
      ("max-age=s60", 0), ("max-age='60'", 0), ("max-age = 60", 0), ("max-age =60", 0), ("max-age= 60", 0),
      (#"max-age="60"x"#, 0), ("max-age=60;public", 0), ("max-age=60 public", 0), ("max-age=１", 0), ("max-age=0x10", 0),
      (#"max-age=" 60""#, 0), ("max-age\u{7F}", 0), (#"max-age="""#, 0),
    ] as [(String, Int64)])
  func `numbers are read strictly`(line: String, seconds: Int64) {
    let control = CacheControl([line])
    #expect(control.maxAge == seconds)
    #expect(!control.isMalformed)
  }

  @Test(arguments: [
    "", " ", ",", "public", "s-maxage=60", "x-max-age=60", "max-agee=60", "max_age=60", #"ext="max-age=60""#,
    #"ext="a, max-age=60, b""#, #"ext="\", max-age=60""#, "=max-age=60", "\u{FF}max-age=60",
  ])
  func `unknown directives are ignored`(line: String) {
    let control = CacheControl([line])
    #expect(control.maxAge == nil && !control.noStore && !control.isMalformed)
  }

  static let words: [(String, @Sendable (CacheControl) -> Bool)] = [
    ("no-store", { $0.noStore }), ("No-Store", { $0.noStore }), ("no-store=x", { $0.noStore }),
    ("no-store;x", { $0.noStore }),
    ("x=1,no-store", { $0.noStore }), ("no-cache", { $0.noCache }), (#"no-cache="Set-Cookie, X-A""#, { $0.noCache }),
    ("no-cache=x", { $0.noCache }), ("private", { $0.isPrivate }), (#"private="X-A""#, { $0.isPrivate }),
    ("public", { $0.isPublic }),
    ("must-revalidate", { $0.mustRevalidate }), ("must-understand", { $0.mustUnderstand }),
    ("immutable", { $0.immutable }),
    ("only-if-cached", { $0.onlyIfCached }), (#"no-cache="open"#, { $0.noCache }),
    (#"no-cache="open"#, { $0.isMalformed }), (#"x="open, max-age=60"#, { $0.mustRevalidate }),
    (#"ext="open, max-age=60"#, { $0.isMalformed }), (#"junk x "open"#, { $0.isMalformed }),
  ]

  @Test(arguments: words)
  func `directives are parsed`(line: String, word: @Sendable (CacheControl) -> Bool) {
    #expect(word(CacheControl([line])))
    #expect(!word(CacheControl(["x-a"])))
  }

  static let numbers: [(String, @Sendable (CacheControl) -> Int64?, Int64)] = [
    ("max-stale", { $0.maxStale }, .max), ("max-stale=5", { $0.maxStale }, 5),
    ("max-stale, max-stale=5", { $0.maxStale }, 5),
    ("max-stale=x", { $0.maxStale }, 0), ("max-stale=", { $0.maxStale }, 0),
    ("min-fresh=5, min-fresh=9", { $0.minFresh }, 9),
    ("min-fresh=x", { $0.minFresh }, 1 << 31),
    ("stale-while-revalidate=5, stale-while-revalidate=3", { $0.staleWhileRevalidate }, 3),
    ("stale-while-revalidate", { $0.staleWhileRevalidate }, 0),
    ("stale-if-error=9, stale-if-error=7", { $0.staleIfError }, 7),
    ("stale-if-error=-7", { $0.staleIfError }, 0),
  ]

  @Test(arguments: numbers)
  func `strictest repeated value applies`(line: String, name: @Sendable (CacheControl) -> Int64?, value: Int64) {
    #expect(name(CacheControl([line])) == value)
    #expect(name(CacheControl(line.split(separator: ",").map(String.init))) == value)
  }

  @Test func `quote ends with its field line`() {
    let control = CacheControl([#"ext="open"#, "max-age=60, no-store"])
    #expect(control.maxAge == 60 && control.noStore && control.isMalformed)
  }

  @Test(
    arguments: [
      (["Pragma": "no-cache"], true), (["pragma": "x, NO-CACHE"], true), (["Pragma": "x"], false),
      (["Pragma": "no-cache", "Cache-Control": "max-age=5"], false),
      (["Pragma": "no-cache", "Cache-Control": ""], false),
    ] as [(HTTPFields, Bool)])
  func `Pragma counts without Cache-Control`(fields: HTTPFields, isSet: Bool) {
    #expect(CacheControl(request: fields).noCache == isSet)
    #expect(!CacheControl(response: ["Pragma": "no-cache"]).noCache)
  }

  @Test func `any bytes can be parsed`() {
    var random = SeededNumbers(seed: 3)
    let words = ["max-age", "=", "\"", ",", "\\", " ", "60", "no-store", "\t", ";", "\u{0}", "é", "'", "-"]
    for _ in 0..<20_000 {
      let line = (0..<Int.random(in: 0...9, using: &random)).map { _ in
        words[Int.random(in: 0..<words.count, using: &random)]
      }.joined()
      let control = CacheControl([line])
      #expect((control.maxAge ?? 0) >= 0 && (control.maxAge ?? 0) <= 1 << 31)
    }
  }
}
