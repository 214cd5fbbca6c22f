import Foundation

/// The texts to read, which are the same in every run.
enum JSONTexts {
  /// All texts with their names.
  static let all = [("200b", account), ("10k", people), ("posts", posts), ("map", map)]

  /// An ``Account``.
  static let account = Data(
    """
    {"id": 4711, "name": "Ada Lovelace", "email": "ada.lovelace@mail.example.org", "age": 36, "score": 99.25, \
    "active": true, "city": "London", "note": "\(String(repeating: "n", count: 51))"}
    """.utf8)

  /// A list of 68 ``Person``s.
  static let people = list((0..<68).map(person))

  /// A list of ``Post``s: half a megabyte.
  static let posts = list((0..<640).map(post))

  /// A ``Map`` of 110,000 doubles: two megabytes.
  static let map: Data = {
    var random = SplitMix(state: 7)
    let points = (0..<55_000).map { _ in
      "[\(Double.random(in: -180...180, using: &random)),\(Double.random(in: -90...90, using: &random))]"
    }
    return Data("{\"features\": [{\"name\": \"coast\", \"points\": [\(points.joined(separator: ","))]}]}".utf8)
  }()

  private static func list(_ elements: [String]) -> Data { Data("[\(elements.joined(separator: ", "))]".utf8) }

  private static func person(_ number: Int) -> String {
    let digits = String(String(1_000 + number).suffix(3))
    return """
      {"id": \(1_000 + number), "name": "Person Number \(digits)", "email": "person.\(digits)@mail.example.org", \
      "age": \(20 + number % 50), "score": \(12.5 + Double(number)), "active": \(number % 2 == 0), \
      "city": "\("Kristiansand".prefix(6 + number % 6))"}
      """
  }

  private static func post(_ number: Int) -> String {
    let text = texts[number % texts.count]
    let isAnswer = number % 3 == 0
    return """
      {"id": \(505_874_924_095_815_681 + number), "id_text": "\(505_874_924_095_815_681 + number)", "text": "\(text)", \
      "language": \(number % 4 == 0 ? "null" : "\"ja\""), "answerTo": \(isAnswer ? "505874847260352513" : "null"), \
      "place": null, "author": \(author(number)), "entities": {"tags": [{"text": "swift", "range": [12, 18]}, \
      {"text": "\(number)番", "range": [20, 27]}], "links": [], "media": \(isAnswer ? "[]" : "null")}, \
      "likes": \(number * 7), "shares": 0, "isSensitive": \(isAnswer ? "false" : "null"), "contributors": null}
      """
  }

  private static func author(_ number: Int) -> String {
    """
    {"id": \(1_186_275_104 + number), "name": "\(number % 2 == 0 ? "Jürgen Müller" : "山田太郎")", "handle": "user_\(number)", \
    "about": \(number % 5 == 0 ? "null" : "\"\(texts[(number + 1) % texts.count])\""), "place": "東京", \
    "home": \(number % 4 == 0 ? "\"https:\\/\\/example.org\\/~\(number)\"" : "null"), "followers": \(number * 31), \
    "friends": 252, "isVerified": \(number % 7 == 0 ? "true" : "null"), "colour": "9AE4E8"}
    """
  }

  private static let texts = [
    "名前:前田あゆみ 第一印象:なんか怖っ！ 今の印象:とりあえずキモい。噛み合わない。好きなところ:ぶすでキモいとこ😋✨✨ 思い出:んーーー、ありすぎ😊❤️",
    "Just setting up my account, and it works: \\\"quoted\\\", with a line\\nfeed and a tab\\there.",
    "一、常に身一つ簡素にして、美食を好んではならない 二、我事において後悔しない 三、善悪につけ他を妬まない",
    "Früh übt sich, was ein Meister werden will. Ça va déjà, n'est-ce pas? \\u00bfQu\\u00e9 tal?",
    "A plain English sentence that is long enough to be no small string, as most of them are in practice.",
  ]
}

/// A random number generator with the same numbers in each run (splitmix64).
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
