import ErrandJSON
import Foundation

/// Compares what is recorded with what is sent where the recorder masked a value that it had learnt from another
/// exchange, which a replay cannot know: in its place stands any that could have been learnt.
enum LearntMask {
  static func fits(_ recorded: String, _ sent: String) -> Bool {
    recorded == sent || fits(Data(recorded.utf8), Data(sent.utf8))
  }

  static func fits(_ recorded: Data, _ sent: Data) -> Bool {
    if recorded == sent { return true }
    let mark = Data(RecordingMask.mark.utf8)
    guard let first = recorded.range(of: mark) else { return false }  // bytes
    let start = Data(recorded[..<first.lowerBound])
    guard sent.starts(with: start) else { return false }
    var here = sent.dropFirst(start.count)
    var rest = recorded[first.upperBound...]
    while let next = rest.range(of: mark) {  // bytes
      let between = Data(rest[..<next.lowerBound])
      guard let found = here.range(of: between), stands(here[..<found.lowerBound]) else { return false }  // bytes
      here = here[found.upperBound...]
      rest = rest[next.upperBound...]
    }
    return here.count >= rest.count && here.suffix(rest.count).elementsEqual(rest)
      && stands(here.dropLast(rest.count))
  }

  /// JSON by what it says, texts in it as above.
  static func fits(_ recorded: JSONValue, _ sent: JSONValue) -> Bool {
    switch (recorded.content, sent.content) {
    case (.string(let recorded), .string(let sent)): fits(recorded, sent)
    case (.array(let recorded), .array(let sent)):
      recorded.count == sent.count && zip(recorded, sent).allSatisfy { fits($0, $1) }
    case (.object(let recorded), .object(let sent)):
      recorded.count == sent.count && recorded.allSatisfy { key, value in sent[key].map { fits(value, $0) } ?? false }
    default: recorded == sent
    }
  }

  private static func stands(_ piece: Data) -> Bool {
    let text = String(decoding: piece, as: UTF8.self)
    return text == RecordingMask.mark || LearntSecrets.isTelling(text)
  }
}
