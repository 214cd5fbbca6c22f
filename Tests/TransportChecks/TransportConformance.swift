package import ErrandCore
import Foundation
package import Testing

/// What every transport has to keep to, as a list of checks that run against any of them.
///
/// ```swift
/// @Test(arguments: TransportConformance.all(for: MyTransport()))
/// func `keeps the promises of the seam`(_ check: TransportConformance.Check) async throws {
///   try await check.run(MyTransport())
/// }
/// ```
package enum TransportConformance {
  /// One promise of the seam.
  package struct Check: Sendable, CustomTestStringConvertible {
    package let name: String
    /// What a transport must be able to do for this check to mean something.
    package let needs: TransportCapabilities
    package let run: @Sendable (any Transport) async throws -> Void

    package init(
      _ name: String, needs: TransportCapabilities = [], _ run: @escaping @Sendable (any Transport) async throws -> Void
    ) {
      self.name = name
      self.needs = needs
      self.run = run
    }

    package var testDescription: String { name }
  }

  /// The checks that fit what a transport says it can do. `isStrict` adds those of exact framing.
  package static func all(for transport: any Transport, isStrict: Bool = true) -> [Check] {
    (basic + (isStrict ? framing : [])).filter { transport.capabilities.isSuperset(of: $0.needs) }
  }

  /// Every check there is, whatever a transport can do.
  package static var every: [Check] { basic + framing }

  private static var basic: [Check] { messages + bodies + uploads + faults + stops + resending }

  // MARK: - Helpers

  package static func get(_ transport: any Transport, _ url: String) async throws -> HTTPResponse {
    try await transport.send(Exchange(request: HTTPRequest(url: url)))
  }

  /// The failure of an exchange, or nil with an issue where there is none.
  package static func failure(
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
  package static func stop(
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
  package var text: String { String(decoding: body, as: UTF8.self) }
}
