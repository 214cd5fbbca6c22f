import Foundation
import TestSupport

/// The built command.
enum BuiltCommand {
  typealias Run = BuiltProgram.Run

  /// Runs the command to its end.
  ///
  /// - Parameter meanwhile: An action during the run, such as an interrupt.
  static func run(
    _ words: [String], environment: [String: String] = [:],
    meanwhile: (Process) async throws -> Void = { _ in }
  ) async throws -> Run {
    try await BuiltProgram("errand").run(words, environment: environment, meanwhile: meanwhile)
  }
}
