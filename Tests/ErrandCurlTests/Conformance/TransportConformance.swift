import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// What every transport has to keep to, as a list of checks that run against any of them.
///
/// ```swift
/// @Test(arguments: TransportConformance.all(for: MyTransport()))
/// func `keeps the promises of the seam`(_ check: TransportConformance.Check) async throws {
///   try await check.run(MyTransport())
/// }
/// ```
enum TransportConformance {
  /// One promise of the seam.
  struct Check: Sendable, CustomTestStringConvertible {
    let name: String
    /// What a transport must be able to do for this check to mean something.
    let needs: TransportCapabilities
    let run: @Sendable (any Transport) async throws -> Void

    init(
      _ name: String, needs: TransportCapabilities = [], _ run: @escaping @Sendable (any Transport) async throws -> Void
    ) {
      self.name = name
      self.needs = needs
      self.run = run
    }

    var testDescription: String { name }
  }

  /// The checks that fit what a transport says it can do. `isStrict` adds those of exact framing.
  static func all(for transport: any Transport, isStrict: Bool = true) -> [Check] {
    let checks = messages + bodies + uploads + faults + stops + resending + (isStrict ? framing : [])
    return checks.filter { transport.capabilities.isSuperset(of: $0.needs) }
  }

  // MARK: - Helpers

  static func get(_ transport: any Transport, _ url: String) async throws -> HTTPResponse {
    try await transport.send(Exchange(request: HTTPRequest(url: url)))
  }

  /// The failure of an exchange, or nil with an issue where there is none.
  static func failure(
    of exchange: Exchange, over transport: any Transport, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> TransportFailure? {
    do {
      let response = try await transport.send(exchange)
      Issue.record("no failure but \(response)", sourceLocation: sourceLocation)
    } catch let failure as TransportFailure {
      return failure
    } catch {
      Issue.record("not a transport failure: \(error)", sourceLocation: sourceLocation)
    }
    return nil
  }

  /// Why an exchange was stopped, or nil with an issue where it was not.
  static func stop(
    of exchange: Exchange, over transport: any Transport, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> CallState.StopReason? {
    do {
      let response = try await transport.send(exchange)
      Issue.record("not stopped but \(response)", sourceLocation: sourceLocation)
    } catch let stopped as CallState.Stopped {
      return stopped.reason
    } catch {
      Issue.record("not stopped but \(error)", sourceLocation: sourceLocation)
    }
    return nil
  }
}

extension HTTPResponse {
  /// The body as text.
  var text: String { String(decoding: body, as: UTF8.self) }
}
