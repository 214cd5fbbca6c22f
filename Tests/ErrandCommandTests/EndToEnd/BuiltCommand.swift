import Foundation
import TestSupport

/// The command as it was built.
enum BuiltCommand {
  typealias Run = BuiltProgram.Run

  /// Runs it to its end.
  ///
  /// - Parameter meanwhile: What to do while it runs, such as to interrupt it.
  static func run(
    _ words: [String], environment: [String: String] = [:],
    meanwhile: (Process) async throws -> Void = { _ in }
  ) async throws -> Run {
    try await BuiltProgram("errand").run(words, environment: environment, meanwhile: meanwhile)
  }
}
