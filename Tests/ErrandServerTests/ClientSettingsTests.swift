@testable import Errand
@testable import ErrandCore
import ErrandTesting
import Foundation
import Testing
import TestSupport

struct ClientSettingsTests {
  private let base = ["ERRAND_BASE_URL": "http://api.example"]

  private func read(_ values: [String: String]) throws(SettingsError) -> ClientConfiguration {
    try ClientConfiguration(reading: .values(base.merging(values) { $1 }))
  }

  private func fault(_ values: [String: String]) -> String {
    do {
      _ = try read(values)
      return ""
    } catch {
      return error.description
    }
  }

  @Test func `each setting changes its property`() throws {
    let read = try read([
      "ERRAND_CDN_URL": "https://cdn.example", "ERRAND_USER_AGENT": "Shop/2", "ERRAND_TIMEOUT_CONNECT": "500ms",
      "ERRAND_TIMEOUT_IDLE": "20s", "ERRAND_TIMEOUT_TOTAL": "never", "ERRAND_RETRIES": "4",
      "ERRAND_CALLS_PER_HOST": "8", "ERRAND_CALLS_TOTAL": "16", "ERRAND_CALLS_WAITING": "0",
      "ERRAND_RESPONSE_LIMIT": "1MiB", "ERRAND_RECORD": "500",
    ])
    #expect(read.servers.current.baseURL == "http://api.example")
    #expect(read.servers.current.cdnURL == "https://cdn.example")
    #expect(read.additions.userAgent == "Shop/2")
    #expect(read.timeouts == Timeouts(connect: .milliseconds(500), idle: .seconds(20), total: .never))
    #expect(read.retries == RetryPolicy(attempts: 5))
    #expect((read.admission.perHost, read.admission.total, read.admission.waiting) == (8, 16, 0))
    #expect(read.limits.bodyBytes == 1 << 20)
    #expect(read.record == .ring(calls: 500))
  }

  @Test func `settings that are missing keep their values`() throws {
    var configuration = ClientConfiguration(baseURL: "http://own.example")
    configuration.retries = RetryPolicy(attempts: 2, statuses: [503])
    configuration.additions.userAgent = "Own"
    try configuration.apply(.values(["ERRAND_RETRIES": "6", "HOME": "/root", "ERRANDS": "x"]))
    #expect(configuration.servers.current.baseURL == "http://own.example")
    #expect(configuration.additions.userAgent == "Own")
    #expect(configuration.retries == RetryPolicy(attempts: 7, statuses: [503]))
  }

  @Test func `cache and record are turned off`() throws {
    let off = try read(["ERRAND_CACHE": "off", "ERRAND_RECORD": "off", "ERRAND_RETRIES": "0"])
    guard case .off = off.cache.store.kind else { throw APIError.draining }
    #expect(off.record == .off)
    #expect(off.retries.attempts == 1)
    guard case .standard = try read(["ERRAND_CACHE": "memory"]).cache.store.kind else { throw APIError.draining }
  }

  @Test(arguments: [
    ("BASE_URL", ""), ("BASE_URL", "ftp://[::1]:80/a"), ("CDN_URL", "ftp://cdn.example"),
    ("TIMEOUT_CONNECT", "30"), ("TIMEOUT_IDLE", "0s"), ("TIMEOUT_TOTAL", "1.5s"), ("RETRIES", "-1"),
    ("RETRIES", "100"), ("CALLS_PER_HOST", "0"), ("CALLS_TOTAL", "many"), ("CALLS_WAITING", "-1"),
    ("RESPONSE_LIMIT", "32"), ("CACHE", "disk"), ("CACHE", "relative/folder"), ("RECORD", "on"), ("RECORD", "0"),
    ("RECORD", "100001"), ("PROXY", "ftp://proxy.example:1"), ("CA_FILE", "authority.pem"),
  ])
  func `wrong value is named with the cure`(_ row: (name: String, value: String)) throws {
    let name = "ERRAND_\(row.name)"
    let setting = try #require(ClientSetting(rawValue: row.name))
    let fault = fault([name: row.value])
    #expect(fault.hasPrefix("\(name) is \""))
    #expect(fault.hasSuffix("\"; set it to \(setting.form)."))
    #expect(fault.hasPrefix("\(name) is \"\(row.value)\"; "))
    #expect(!fault.contains("\n"))
  }

  @Test(arguments: [
    ("BASE_URL", "api.example"), ("BASE_URL", "svc:s3cret@api.example.com"), ("BASE_URL", "http:svc:s3cret"),
    ("BASE_URL", "ftp://svc:s3cret"), ("BASE_URL", "ftp://s3cret%40api.example"), ("BASE_URL", "ftp://[s3cret"),
    ("BASE_URL", "ftp://api.example/svc:s3cret@b"), ("CDN_URL", "//svc:s3cret@cdn.example"), ("PROXY", "svc:s3cret"),
    ("USER_AGENT", "a\nb"), ("RETRIES", "svc:s3cret"), ("RECORD", "0123456789abcdef012345678"), ("CACHE", "s3cret=x"),
  ])
  func `value that may be secret is hidden`(_ row: (name: String, value: String)) throws {
    let setting = try #require(ClientSetting(rawValue: row.name))
    let fault = fault(["ERRAND_\(row.name)": row.value])
    #expect(fault == "ERRAND_\(row.name) has a wrong value; set it to \(setting.form).")
  }

  @Test func `unknown name is named without its value`() {
    let fault = fault(["ERRAND_TIMEOUT": "s3cret"])
    #expect(fault.hasPrefix("ERRAND_TIMEOUT is no setting of a client; correct or remove it."))
    #expect(fault.contains("ERRAND_TIMEOUT_TOTAL"))
    #expect(!fault.contains("s3cret"))
  }

  /// The variables of the services `stock` and `stock-db`.
  private static let links = [
    "STOCK_SERVICE_HOST": "10.0.0.1", "STOCK_SERVICE_PORT": "80", "STOCK_SERVICE_PORT_HTTP": "80",
    "STOCK_SERVICE_PORT_HTTP_ADMIN": "81", "STOCK_PORT": "tcp://10.0.0.1:80", "STOCK_PORT_80_TCP": "tcp://10.0.0.1:80",
    "STOCK_PORT_80_TCP_PROTO": "tcp", "STOCK_PORT_80_TCP_PORT": "80", "STOCK_PORT_80_TCP_ADDR": "10.0.0.1",
    "STOCK_PORT_53_UDP": "udp://10.0.0.1:53", "STOCK_DB_SERVICE_HOST": "10.0.0.2", "STOCK_DB_SERVICE_PORT": "5432",
    "STOCK_DB_PORT": "tcp://10.0.0.2:5432", "STOCK_DB_PORT_5432_TCP_PROTO": "tcp",
  ]

  private func readStock(_ values: [String: String]) throws(SettingsError) -> ClientConfiguration {
    let all = Self.links.merging(values) { $1 }
    return try ClientConfiguration(reading: .environment(prefix: "STOCK_") { all })
  }

  @Test func `service links are no settings`() throws {
    let read = try readStock(["STOCK_BASE_URL": "http://stock.example", "STOCK_RETRIES": "2"])
    #expect(read.servers.current.baseURL == "http://stock.example" && read.retries.attempts == 3)
  }

  @Test(arguments: [
    "STOCK_TIMEOUT", "STOCK_PROXY_PORT", "STOCK_SERVICE", "STOCK_SERVICE_HOSTS", "STOCK_PORT_80", "STOCK_PORT_X_TCP",
    "STOCK_PORT_80_HTTP", "STOCK_PORT_80_TCP_NAME", "STOCK_PORT_80_TCP_PORT_1", "STOCK_CACHE_SERVICE_HOST",
  ])
  func `name like a service link is a fault`(name: String) {
    let error = #expect(throws: SettingsError.self) {
      try readStock(["STOCK_BASE_URL": "http://stock.example", name: "80"])
    }
    #expect(error?.faults.count == 1 && error?.description.hasPrefix("\(name) is no setting") == true)
  }

  @Test func `only the environment has service links`() {
    let values = Self.links.merging(["STOCK_BASE_URL": "http://stock.example"]) { $1 }
    let error = #expect(throws: SettingsError.self) {
      try ClientConfiguration(reading: .values(values, prefix: "STOCK_"))
    }
    #expect(error?.faults.count == Self.links.count)
  }

  @Test func `secrets are not shown`() {
    let faults = [
      fault(["ERRAND_PROXY": "http://proxy.example:1", "ERRAND_PROXY_USER": "s3cret:x"]),
      fault(["ERRAND_PROXY": "http://proxy.example:1", "ERRAND_PROXY_USER": "u", "ERRAND_PROXY_PASSWORD": "s3cret\n"]),
      fault(["ERRAND_PROXY": "http://user:s3cret@proxy.example:1"]),
      fault(["ERRAND_BASE_URL": "ftp://user:s3cret@api.example"]),
      fault(["ERRAND_PROXY_PASSWORD": "s3cret"]),
    ]
    for fault in faults {
      #expect(!fault.isEmpty)
      #expect(!fault.contains("s3cret"), "\(fault)")
    }
  }

  @Test func `all faults are reported in one error`() {
    let error = #expect(throws: SettingsError.self) {
      try read(["ERRAND_RETRIES": "x", "ERRAND_CACHE": "x", "ERRAND_X": "x", "ERRAND_PROXY_USER": "u"])
    }
    #expect(error?.faults.count == 4)
  }

  @Test func `failed reading changes nothing`() {
    var configuration = ClientConfiguration(baseURL: "http://own.example")
    #expect(throws: SettingsError.self) {
      try configuration.apply(.values(["ERRAND_BASE_URL": "http://new.example", "ERRAND_RETRIES": "x"]))
    }
    #expect(configuration.servers.current.baseURL == "http://own.example")
  }

  @Test func `base URL is required`() {
    #expect(throws: SettingsError(faults: ["SHOP_BASE_URL is not set; set it to \(ClientSetting.baseURL.form)."])) {
      try ClientConfiguration(reading: .values([:], prefix: "SHOP_"))
    }
  }

  @Test func `later source overrides earlier one`() throws {
    let read = try ClientConfiguration(
      reading: .values(["ERRAND_BASE_URL": "http://a.example", "ERRAND_RETRIES": "1"]),
      .values(["SHOP_BASE_URL": "http://b.example"], prefix: "SHOP_"))
    #expect(read.servers.current.baseURL == "http://b.example")
    #expect(read.retries.attempts == 2)
  }

  @Test func `transport of the program is not replaced`() {
    var configuration = ClientConfiguration(baseURL: "http://own.example")
    configuration.transport = .own(ScriptedTransport { _ in .text("") })
    let error = #expect(throws: SettingsError.self) { try configuration.apply(.values(["ERRAND_PROXY": "none"])) }
    #expect(error?.description.contains("transport") == true)
  }

  @Test func `connection settings are applied once`() throws {
    var configuration = ClientConfiguration(baseURL: "http://own.example")
    try configuration.apply(.values(["ERRAND_PROXY": "none"]))
    let error = #expect(throws: SettingsError.self) { try configuration.apply(.values(["ERRAND_PROXY": "none"])) }
    #expect(error?.description.contains("settings that were applied before") == true)
    #expect(error?.description.contains("all sources to one call") == true)
  }

  @Test func `authority file that is missing is named`() {
    let fault = fault(["ERRAND_CA_FILE": "/nowhere/authority.pem", "ERRAND_PROXY": "none"])
    #expect(fault.hasPrefix("ERRAND_PROXY (none) and ERRAND_CA_FILE (/nowhere/authority.pem) cannot be used: "))
  }
}
