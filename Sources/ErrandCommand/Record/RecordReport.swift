import Errand
import ErrandRecord
import Foundation

/// A result about recorded calls, as text and as JSON.
struct RecordReport {
  let text: String
  let json: JSONValue

  private init(_ text: String, _ json: JSONValue) { (self.text, self.json) = (text, json) }

  // MARK: - List

  /// The number of columns of the longest URL in a list. One long URL would widen all lines.
  static let longestRequest = 200
  /// The number of columns of the longest id in a list.
  static let longestID = 60

  static func list(_ calls: [ArchivedCall], of file: RecordFile, paint: Paint = .plain) -> RecordReport {
    var members: [String: JSONValue] = ["calls": .array(calls.map { .object(summary($0)) })]
    let omitted = file.archive.omittedEntries
    if omitted > 0 { members["omittedEntries"] = JSONValue(omitted) }
    let json: JSONValue = .object(members)
    if calls.isEmpty { return RecordReport("There are no calls.\n", json) }
    let heading = ["id", "started", "status", "time", "sent", "request", "outcome"].map {
      ($0, Paint.Style?.some(.dim))
    }
    let rows = calls.map { call -> [(text: String, style: Paint.Style?)] in
      [
        (shortened(file.hasRuns ? call.id : "\(call.number)", to: longestID), .bold), (clock(call.startedAt), nil),
        (call.status.map { "\($0)" } ?? "–", style(of: call)), (Wording.duration(call.duration), nil),
        ("\(call.attempts)", nil), (shortened(request(call), to: longestRequest), nil),
        (PlainText.visible(outcome(call)), nil),
      ]
    }
    let note = omitted > 0 ? "\(omitted) earlier exchanges are not read\n" : ""
    return RecordReport(TextTable(paint: paint).text([heading] + rows) + note, json)
  }

  private static func shortened(_ text: String, to columns: Int) -> String {
    TextLayout.shortened(PlainText.visible(text), to: columns)
  }

  // MARK: - Why

  static func why(_ call: ArchivedCall, paint: Paint = .plain) -> RecordReport {
    var lines = [
      paint(.bold, "#\(PlainText.visible(call.id))")
        + " \(PlainText.visible(call.requestType)) \(request(call)) → \(PlainText.visible(state(call))), "
        + Wording.duration(call.duration)
    ]
    if let message = call.failureMessage { lines.append("  \(PlainText.visible(message))") }
    lines += call.decisions.map { decision in
      let offset = decision.offset.map { "\(signed($0))  " } ?? ""
      return "  \(paint(.dim, offset))\(PlainText.visible(decision.text))"
    }
    if call.decisions.isEmpty { lines.append("  No decisions are recorded, as in archives of other programs.") }
    lines.append(paint(.dim, call.entries.count == 1 ? "exchange" : "exchanges"))
    lines += call.entries.map { "  \(exchange($0))" }
    var json = summary(call)
    json["message"] = call.failureMessage.map { .string($0) }
    json["decisions"] = .array(call.decisions.map(decision))
    json["exchanges"] = .array(call.entries.map(exchangeJSON))
    return RecordReport(lines.joined(separator: "\n") + "\n", .object(json))
  }

  private static func decision(_ decision: HTTPArchive.Decision) -> JSONValue {
    var members: [String: JSONValue] = ["text": .string(decision.text)]
    members["kind"] = decision.kind.map { .string($0) }
    members["offset"] = decision.offset.map { .number($0 / .milliseconds(1)) }
    return .object(members)
  }

  private static func exchange(_ entry: HTTPArchive.Entry) -> String {
    let end = entry.response.status.map { "\($0)" } ?? entry.response.failure ?? "no response"
    let phases = phases(entry.timings).map { "\($0) \(Wording.duration($1))" }
    let parts = ["\(entry.request.method) \(entry.request.url) → \(end)", Wording.duration(entry.time)] + phases
    return PlainText.visible(parts.joined(separator: " · "))
  }

  private static func exchangeJSON(_ entry: HTTPArchive.Entry) -> JSONValue {
    var members: [String: JSONValue] = [
      "method": .string(entry.request.method), "url": .string(entry.request.url),
      "time": .number(entry.time / .milliseconds(1)),
      "timings": .object(
        Dictionary(phases(entry.timings).map { ($0, .number($1 / .milliseconds(1))) }) { old, _ in old }),
    ]
    members["status"] = entry.response.status.map { JSONValue($0) }
    members["failure"] = entry.response.failure.map { .string($0) }
    return .object(members)
  }

  private static func phases(_ timings: HTTPArchive.Timings) -> [(String, Duration)] {
    let all = [
      ("blocked", timings.blocked), ("dns", timings.dns), ("connect", timings.connect), ("tls", timings.tls),
      ("send", timings.send), ("wait", timings.wait), ("receive", timings.receive),
    ]
    return all.compactMap { name, time in time.flatMap { $0 > .zero ? (name, $0) : nil } }
  }

  // MARK: - Diff

  static func diff(_ a: ArchivedCall, _ b: ArchivedCall, paint: Paint = .plain) -> RecordReport {
    let differences = CallComparison.ofTwoCalls.differences(a, b)
    let heading = [a, b].map { "#\(PlainText.visible($0.id)) \(request($0))\n" }.joined()
    let text = differences.isEmpty ? "The calls do not differ.\n" : Self.text(differences, paint)
    return RecordReport(
      heading + text,
      .object([
        "a": .string(a.id), "b": .string(b.id), "differences": .array(differences.map(json)),
      ]))
  }

  static func compare(_ a: HTTPArchive, _ b: HTTPArchive, paint: Paint = .plain) -> RecordReport {
    let comparison = CallComparison.ofTwoFiles.pairs(a.calls, b.calls)
    var text = ""
    for pair in comparison.changed {
      text += "#\(PlainText.visible(pair.a.id)) and #\(PlainText.visible(pair.b.id)) \(request(pair.a))\n"
      text += Self.text(pair.differences, paint)
    }
    for call in comparison.onlyA { text += "only in the first: #\(PlainText.visible(call.id)) \(request(call))\n" }
    for call in comparison.onlyB { text += "only in the second: #\(PlainText.visible(call.id)) \(request(call))\n" }
    text += "\(comparison.equal) equal, \(comparison.changed.count) different, \(comparison.onlyA.count) only in the "
    text += "first, \(comparison.onlyB.count) only in the second\n"
    let changed = comparison.changed.map { pair -> JSONValue in
      .object([
        "a": .string(pair.a.id), "b": .string(pair.b.id), "method": .string(pair.a.method), "url": .string(pair.a.url),
        "differences": .array(pair.differences.map(json)),
      ])
    }
    return RecordReport(
      text,
      .object([
        "equal": JSONValue(comparison.equal), "different": .array(changed),
        "onlyA": .array(comparison.onlyA.map { .object(summary($0)) }),
        "onlyB": .array(comparison.onlyB.map { .object(summary($0)) }),
      ]))
  }

  private static func text(_ differences: [CallComparison.Difference], _ paint: Paint) -> String {
    differences.map { difference in
      let name = paint(.dim, PlainText.visible(difference.what))
      let a = paint(.red, "- \(PlainText.visible(difference.a ?? "none"))")
      let b = paint(.green, "+ \(PlainText.visible(difference.b ?? "none"))")
      return "  \(name)\n    \(a)\n    \(b)\n"
    }.joined()
  }

  private static func json(_ difference: CallComparison.Difference) -> JSONValue {
    var members: [String: JSONValue] = ["what": .string(difference.what)]
    members["a"] = difference.a.map { .string($0) }
    members["b"] = difference.b.map { .string($0) }
    return .object(members)
  }

  // MARK: - Parts

  private static func summary(_ call: ArchivedCall) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "id": .string(call.id), "method": .string(call.method), "url": .string(call.url),
      "duration": .number(call.duration / .milliseconds(1)), "attempts": JSONValue(call.attempts),
      "startedAt": .string(call.startedAt.archiveText),
    ]
    if !call.requestType.isEmpty { members["requestType"] = .string(call.requestType) }
    members["status"] = call.status.map { JSONValue($0) }
    members["origin"] = call.origin.map { .string($0) }
    members["failure"] = call.failure.map { .string($0) }
    members["tag"] = call.tag.map { .string($0) }
    return members
  }

  private static func request(_ call: ArchivedCall) -> String {
    call.url.isEmpty ? "(request was not built)" : PlainText.visible("\(call.method) \(call.url)")
  }

  private static func outcome(_ call: ArchivedCall) -> String { call.failure ?? call.origin ?? "" }

  private static func state(_ call: ArchivedCall) -> String {
    [call.status.map { "\($0)" }, call.failure ?? call.origin.map { "from \($0)" }].compactMap { $0 }
      .joined(separator: " ")
  }

  private static func style(of call: ArchivedCall) -> Paint.Style? {
    if call.failure != nil { return .red }
    return (call.status ?? 0) >= 400 ? .yellow : .green
  }

  private static func clock(_ date: Date) -> String {
    String(date.archiveText.dropFirst(11).dropLast())
  }

  private static func signed(_ offset: Duration) -> String {
    (offset < .zero ? "" : "+") + Wording.duration(offset)
  }
}
