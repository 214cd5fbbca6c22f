public import ErrandCore
import ErrandHTTP

extension ClientConfiguration {
  /// Makes a configuration from settings outside the program, such as environment variables. `BASE_URL` is required.
  ///
  /// ```swift
  /// let client = APIClient(try ClientConfiguration(reading: .environment()))
  /// ```
  ///
  /// The page <doc:OnAServer> lists the settings.
  /// - Parameters:
  ///   - source: The first source. It is a parameter of its own, so that the compiler rejects `ClientConfiguration()`.
  ///   - more: Further sources. A later source overrides the same setting of an earlier source.
  /// - Throws: `SettingsError` with all faults.
  public init(reading source: SettingsSource, _ more: SettingsSource...) throws(SettingsError) {
    self.init(baseURL: "")
    try apply([source] + more)
    if servers.current.baseURL.isEmpty {
      let prefix = (more.last ?? source).prefix
      throw SettingsError(
        faults: ["\(prefix)BASE_URL is not set; set it to \(ClientSetting.baseURL.form)."])
    }
  }

  /// Replaces properties by settings outside the program. Settings that no source contains keep their values. If a
  /// source has a fault, nothing is changed.
  ///
  /// `PROXY` and `CA_FILE` make the property `transport`, which must be `.platform` before. So these settings can be
  /// applied only once; give all sources to one call.
  /// - Parameter sources: The sources. A later source overrides the same setting of an earlier source.
  /// - Throws: `SettingsError` with all faults.
  public mutating func apply(_ sources: SettingsSource...) throws(SettingsError) { try apply(sources) }

  private mutating func apply(_ sources: [SettingsSource]) throws(SettingsError) {
    var changed = self
    var reading = SettingsReading()
    for source in sources { reading.take(try source.read(), prefix: source.prefix) }
    try reading.apply(to: &changed)
    self = changed
  }
}

/// Combines the values of several sources and applies them.
struct SettingsReading {
  private struct Named {
    let name: String
    let found: SettingsSource.Found
  }

  private var values: [ClientSetting: Named] = [:]
  private var faults: [String] = []
  private var prefix = ""

  /// Adds the values of a source, which override earlier values.
  mutating func take(_ found: [String: SettingsSource.Found], prefix: String) {
    self.prefix = prefix
    for (name, found) in found.sorted(by: { $0.key < $1.key }) where name.utf8.starts(with: prefix.utf8) {
      let short = String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
      if let setting = ClientSetting(rawValue: short) {
        values[setting] = Named(name: name, found: found)
      } else {
        let known = ClientSetting.allCases.map { prefix + $0.rawValue }.joined(separator: ", ")
        faults.append(
          "\(Self.place(found))\(Redaction.visible(name)) is no setting of a client; correct or remove it. The "
            + "settings are: \(known).")
      }
    }
  }

  /// Applies the values to a configuration.
  mutating func apply(to configuration: inout ClientConfiguration) throws(SettingsError) {
    var connection = ConnectionSettings()
    for setting in ClientSetting.allCases {
      guard let named = values[setting] else { continue }
      if !setting.apply(named.found.value, to: &configuration, &connection) {
        faults.append(Self.fault(setting, named.name, named.found))
      }
    }
    if let fault = connection.fault(prefix: prefix) { faults.append(fault) }
    if faults.isEmpty, !connection.isEmpty { setTransport(of: &configuration, connection) }
    if !faults.isEmpty { throw SettingsError(faults: faults) }
  }

  private mutating func setTransport(of configuration: inout ClientConfiguration, _ connection: ConnectionSettings) {
    guard case .platform = configuration.transport else {
      faults.append(
        "\(prefix)PROXY and \(prefix)CA_FILE make the transport, but `transport` is already set, by the program or "
          + "by settings that were applied before; remove these settings, or leave `transport` at `.platform` and give "
          + "all sources to one call.")
      return
    }
    do {
      configuration.transport = try connection.transport()
    } catch {
      faults.append("\(connection.names(prefix: prefix)) cannot be used: \(Redaction.visible("\(error)"))")
    }
  }

  private static func place(_ found: SettingsSource.Found) -> String { found.place.isEmpty ? "" : "\(found.place): " }

  private static func fault(_ setting: ClientSetting, _ name: String, _ found: SettingsSource.Found) -> String {
    let text = setting.shown(found.value).map { " is \"\($0)\"" } ?? " has a wrong value"
    return "\(place(found))\(name)\(text); set it to \(setting.form)."
  }
}
