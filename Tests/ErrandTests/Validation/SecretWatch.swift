import Errand
import ErrandTesting
import Foundation
import Testing

/// Collects whatever a call shows to anybody: log, accessories, endings, metrics, errors, lines for curl.
struct SecretWatch: Sendable {
  let lines = Recorded<LogLine>()
  let endings = Recorded<String>()
  private let shown = Recorded<String>()

  private struct Shower: Accessory {
    let watch: SecretWatch

    func willStart(_ call: CallInfo) { watch.note(call) }
    func progressed(_ call: CallInfo, _ progress: TransferProgress) { watch.note(progress) }
    func willStop(_ call: CallInfo, _ ending: CallEnding) { watch.end(call, ending) }
    func didStop(_ call: CallInfo, _ ending: CallEnding) { watch.end(call, ending) }
  }

  /// Hears the client's log and sees its calls.
  func attach(to configuration: inout ClientConfiguration) {
    configuration.log = { [lines] in lines.append($0) }
    configuration.accessories.append(Shower(watch: self))
  }

  /// Prints a value in every way that Swift has.
  func note(_ value: Any) { shown.append(SecretTests.everything(value)) }

  /// Prints an error, what it carries, and what it becomes in Foundation's hands.
  func note(_ error: APIError) {
    note(error as Any)
    note(error as NSError)
    let told = error as NSError
    shown.append("\(error.message) \(error.localizedDescription) \(told.userInfo) \(told.localizedDescription)")
    shown.append("\(told.localizedFailureReason ?? "") \(error.errorDescription ?? "")")
    if let request = error.request { note(request) }
    if let response = error.response { note(response) }
    for case let cause? in [error.cause] { note(cause) }
  }

  private func note(_ request: HTTPRequest) {
    note(request as Any)
    note(request.fields)
    note(request.url)
    if let body = request.body { note(body) }
    shown.append(request.curlCommand())
  }

  private func note(_ response: HTTPResponse) {
    note(response as Any)
    note(response.head)
    note(response.fields)
    note(response.url)
  }

  private func end(_ call: CallInfo, _ ending: CallEnding) {
    endings.append("\(ending)")
    note(call)
    note(ending)
    note(ending.metrics)
    if let error = ending.error { note(error) }
    if let request = ending.request { note(request) }
    if let response = ending.response { note(response) }
  }

  /// The marker is found nowhere, as it is, in base64, or byte by byte.
  func expectNoSecret(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(!shown.all.isEmpty && !lines.all.isEmpty, sourceLocation: sourceLocation)
    for text in shown.all + lines.all.map(SecretTests.everything) {
      #expect(!text.contains(SecretTests.marker), "\(text)", sourceLocation: sourceLocation)
      #expect(!text.contains(SecretTests.encoded), "\(text)", sourceLocation: sourceLocation)
      let numbers = text.split { !$0.isNumber }.joined(separator: " ")
      #expect(!numbers.contains("77 65 82 75"), "\(text)", sourceLocation: sourceLocation)
    }
  }
}
