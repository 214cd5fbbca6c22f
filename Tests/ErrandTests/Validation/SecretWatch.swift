import Errand
import ErrandTesting
import Foundation
import Testing

/// Collects everything that a call shows: log, accessories, endings, metrics, errors, curl commands.
struct SecretWatch: Sendable {
  let lines = Recorded<LogLine>()
  let endings = Recorded<String>()
  private let shown = Recorded<String>()

  private struct Shower: Accessory {
    let watch: SecretWatch

    func willStart(_ call: CallInfo) { watch.note(call) }
    func progressed(_ call: CallInfo, _ progress: TransferProgress) { watch.note(progress) }
    func willStop(_ call: CallInfo, _ outcome: Outcome<Void>) { watch.end(call, outcome) }
    func didStop(_ call: CallInfo, _ outcome: Outcome<Void>) { watch.end(call, outcome) }
  }

  /// Collects the client's log and observes its calls.
  func attach(to configuration: inout ClientConfiguration) {
    configuration.log = { [lines] in lines.append($0) }
    configuration.accessories.append(Shower(watch: self))
  }

  /// Prints a value in every way that Swift offers.
  func note(_ value: Any) { shown.append(SecretTests.everything(value)) }

  /// Prints an error, its contents, and its bridged form in Foundation.
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

  private func end(_ call: CallInfo, _ outcome: Outcome<Void>) {
    endings.append("\(outcome)")
    note(call)
    note(outcome)
    note(outcome.metrics)
    if let error = outcome.error { note(error) }
    if let request = outcome.request { note(request) }
    if let response = outcome.response { note(response) }
  }

  /// Checks that the marker occurs nowhere: neither plain, nor in base64, nor as byte values.
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
