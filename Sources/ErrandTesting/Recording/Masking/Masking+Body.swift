import ErrandCore
import ErrandJSON
import Foundation

extension Masking {
  /// A body as it stands in a recording: byte for byte where nothing in it is masked.
  mutating func body(_ body: Data, _ fields: HTTPFields) -> Data {
    if body.isEmpty { return body }
    let type = fields[.contentType].flatMap { MediaType($0) }
    if let boundary = MultipartText.boundary(fields) { return multipart(body, boundary) }
    if type?.essence == "application/x-www-form-urlencoded" {
      return Data(maskedItems(String(decoding: body, as: UTF8.self)).utf8)
    }
    if let masked = json(body) { return masked }
    return lines(body)
  }

  /// A JSON text masked; nil where it is none.
  private mutating func json(_ text: Data) -> Data? {
    guard let value = try? JSONValue(parsing: text) else { return nil }
    let masked = json(value, mask.paths.map { $0.steps[...] })
    return masked == value ? text : (try? masked.serialized()) ?? Data(RecordingMask.mark.utf8)
  }

  /// Lines that are JSON, as in a stream of values or events.
  private mutating func lines(_ body: Data) -> Data {
    guard body.contains(UInt8(ascii: "{")), let text = String(validating: body, as: UTF8.self) else { return body }
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
      let start = line.prefix { $0 != "{" }
      guard start.allSatisfy({ $0.properties.isAlphabetic || ": ".unicodeScalars.contains($0) }),
        let masked = json(Data(String(line[start.endIndex...]).utf8))
      else { return String(line) }
      return String(start) + String(decoding: masked, as: UTF8.self)
    }
    return Data(lines.joined(separator: "\n").utf8)
  }

  // MARK: - JSON

  /// - Parameter paths: What is left of the paths that lead here.
  private mutating func json(_ value: JSONValue, _ paths: [ArraySlice<JSONPath.Step>]) -> JSONValue {
    if paths.contains(where: \.isEmpty) { return hidden(value) }
    switch value {
    case .object(let members):
      var masked: [String: JSONValue] = [:]
      for (key, member) in members {
        let onward = paths.filter { $0.first == .key(key) }.map { $0.dropFirst() }
        masked[key] = mask.hides(key: key) ? hidden(member) : json(member, onward)
      }
      return .object(masked)
    case .array(let elements):
      return .array(
        elements.enumerated().map { index, element in
          json(element, paths.compactMap { Self.onward($0, at: index) })
        })
    default: return value
    }
  }

  /// What is left of a path at an element: a path that names no index means all of them.
  private static func onward(_ path: ArraySlice<JSONPath.Step>, at index: Int) -> ArraySlice<JSONPath.Step>? {
    guard case .index(let wanted)? = path.first else { return path }
    return wanted == index ? path.dropFirst() : nil
  }

  /// The same form with nothing in it.
  private mutating func hidden(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null: return .null
    case .bool: return false
    case .integer, .unsigned, .number: return 0
    case .string(let text): return .string(hidden(text))
    case .array(let elements): return .array(elements.map { hidden($0) })
    case .object(let members): return .object(members.mapValues { hidden($0) })
    }
  }

  // MARK: - Multipart

  /// The boundary is random: in its place stands one that is the same in every recording.
  private mutating func multipart(_ body: Data, _ boundary: String) -> Data {
    let parts = MultipartText.parts(of: body, boundary).map { part -> Data in
      guard let name = part.name, mask.hides(item: name) else { return part.whole }
      learnt.learn(String(decoding: part.content, as: UTF8.self))
      return part.head + Data(RecordingMask.mark.utf8)
    }
    return Data(parts.joined(separator: Data("\r\n--\(MultipartText.plainBoundary)".utf8)))
  }
}
