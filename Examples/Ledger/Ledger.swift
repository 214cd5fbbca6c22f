import Errand
import ErrandTesting

/// The app and a working day with it.
struct Ledger: Sendable {
  let server: LedgerServer
  let console: Console
  let client: APIClient
  let accounts: CredentialStore
  let session: SessionService
  let bookings: BookingService
  let reports: ReportService
  let receipts: ReceiptService

  init(_ server: LedgerServer, client: APIClient, console: Console) throws {
    // The token is also sent to the host of the reports, and never to the CDN.
    let reportHost = try HTTPURL("http://\(LedgerServer.Hosts.reports):\(server.port)").origin
    accounts = CredentialStore(origins: [reportHost])
    try client.serveLedger(port: server.port, accounts: accounts)
    (self.server, self.console, self.client) = (server, console, client)
    session = SessionService(client: client, accounts: accounts)
    bookings = BookingService(client: client)
    reports = ReportService(client: client)
    receipts = ReceiptService(client: client)
  }

  /// The whole day.
  func play() async throws {
    await stayOutside()
    try await logIn()
    try await book()
    await stumble()
    try await readReports()
    try await lookAtReceipts()
    try await changeDefaults()
    try await logOut()
  }

  /// The text of an error for the user: the server's message, if it sent one.
  static func words(of error: any Error) -> String {
    guard let error = error as? APIError else { return "\(error)" }
    let refusal = error.code == .status ? error.body(asMessage: RefusalMessage.self) : nil
    return refusal.map(\.words).flatMap { $0.isEmpty ? nil : $0 } ?? error.message
  }

  /// Prints the error that the closure must throw.
  func fails<Value>(_ what: String, _ work: () async throws -> Value) async {
    do {
      _ = try await work()
      console.say("\(what): no error, which is unexpected")
    } catch {
      console.say("\(what): \(Self.words(of: error))")
    }
  }

  /// Prints the user's header fields in the last request.
  func showLast() {
    guard let last = server.requests.last else { return }
    let token = last.headers["Authorization"].map { "token of \($0.dropFirst(7).prefix { $0 != "-" })" } ?? "no token"
    let branch = last.headers["X-Branch"].map { "branch \($0)" } ?? "no branch"
    console.say("\(last.method) \(LedgerServer.host(of: last))\(last.path): \(token), \(branch)")
  }
}
