/// A first draft of an API from recorded exchanges: an OpenAPI document. It contains the names and the types of what was
/// sent, but no values.
package struct RecordingDraft {
  /// The recording has no exchange of the API.
  package struct NoExchanges: Error, CustomStringConvertible {
    package let description: String
  }

  package let document: DocumentNode
  /// The host of the API, with its port if the URLs have one.
  package let host: String
  /// The other hosts of the recording, those with most exchanges first.
  package let otherHosts: [String]

  /// Makes the draft for a host; nil stands for the host with most exchanges.
  package init(_ recording: [RecordedExchange], host wished: String?) throws(NoExchanges) {
    let calls = recording.filter(\.isCall)
    var counts: [String: Int] = [:]
    for call in calls { counts[call.host, default: 0] += 1 }
    let hosts = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    guard let most = hosts.first else {
      throw NoExchanges(description: "the recording has no exchange of an API that ended with a response")
    }
    let wished = wished?.lowercased() ?? most
    guard let host = hosts.first(where: { $0 == wished }) ?? hosts.first(where: { $0.hasPrefix("\(wished):") }) else {
      let known = hosts.prefix(5).joined(separator: ", ")
      throw NoExchanges(description: "the recording has no exchange with the host “\(wished)”, but with \(known)")
    }
    self.host = host
    otherHosts = hosts.filter { $0 != host }
    document = DraftWriter(calls.filter { $0.host == host }, host: host).document()
  }
}

private final class DraftWriter {
  private let exchanges: [RecordedExchange]
  private let host: String
  /// The segments at the beginning of all paths that belong to the base URL.
  private let base: String
  /// The operations in the order of their paths.
  private let operations: [DraftOperation]
  private let failure = SampleShape()

  init(_ exchanges: [RecordedExchange], host: String) {
    (self.exchanges, self.host) = (exchanges, host)
    base = RecordedPath.base(of: exchanges.map(\.path))
    var groups: [String: DraftOperation] = [:]
    for exchange in exchanges {
      let path = RecordedPath(String(exchange.path.dropFirst(base.count)))
      let key = "\(path.template) \(exchange.method)"
      let group = groups[key] ?? DraftOperation(path, exchange.method)
      groups[key] = group
      group.add(exchange, path)
    }
    operations = groups.values.sorted { ($0.template, $0.method) < ($1.template, $1.method) }
    for exchange in exchanges where exchange.isFailure && exchange.response?.isProblem == false {
      if let value = exchange.response?.json { failure.add(value) }
    }
  }

  func document() -> DocumentNode {
    let resources = nameResources()
    let failureName = SwiftName.unique("FailureBody") { name in resources.contains { $0.key == name } }
    var schemas = resources.map { (key: $0.key, value: $0.value.schema()) }
    if failure.isRecord { schemas.append((failureName, failure.schema())) }
    var paths: [(key: String, value: DocumentNode)] = []
    for operation in operations {
      let item = (
        key: operation.method.lowercased(), value: operation.document(failure: failure.isRecord ? failureName : nil)
      )
      if let last = paths.last, last.key == operation.template, let members = last.value.members {
        paths[paths.count - 1].value = DocumentNode(members: members.entries + [item])
      } else {
        paths.append((operation.template, DocumentNode(members: [item])))
      }
    }
    return [
      "openapi": "3.1.0",
      "info": ["title": .init(.string(title)), "description": .init(.string(description))],
      "servers": [["url": .init(.string((exchanges.first?.origin ?? "https://\(host)") + base))]],
      "paths": DocumentNode(members: paths),
      "components": [
        "schemas": DocumentNode(members: schemas), "securitySchemes": DocumentNode(members: securitySchemes()),
      ],
    ]
  }

  /// The words of the host that name the API: `api.tea-shop.example.com` becomes `tea-shop`.
  private var title: String {
    let name = host.prefix { $0 != ":" }
    let words = name.split(separator: ".").filter { $0 != "www" && $0 != "api" }
    guard words.count > 1, let word = words.first, !words.allSatisfy({ $0.allSatisfy(\.isNumber) }) else {
      return "Recorded API"
    }
    return String(word)
  }

  private var description: String {
    "A draft from \(DraftOperation.counted(exchanges.count)) with \(host). A recording shows only a part of an API: "
      + "check the names, the types, and what is optional."
  }

  /// The objects that responses are about. Each becomes a schema with the name of the resource in its path, and all its
  /// samples are merged. Of several different objects with one name, only the first gets it.
  private func nameResources() -> [(key: String, value: SampleShape)] {
    var resources: [(key: String, value: SampleShape)] = []
    for operation in operations {
      guard let subject = operation.subject else { continue }
      let name = RecordedPath.resource(operation.template)
      if let known = resources.first(where: { $0.key == name })?.value {
        guard known.isSimilar(to: subject) else { continue }
        known.merge(subject)
      } else {
        let shape = SampleShape()
        shape.merge(subject)
        resources.append((name, shape))
      }
      operation.resource = name
    }
    return resources
  }

  /// The names of the fields with credentials. Of their values, only the scheme in `Authorization` is used.
  private func securitySchemes() -> [(key: String, value: DocumentNode)] {
    var schemes: [String: DocumentNode] = [:]
    for (name, value) in exchanges.flatMap(\.fields) {
      let name = name.lowercased()
      switch RecordedField(name) {
      case .standard, .own: continue
      case .authorization:
        let scheme = value.lowercased().hasPrefix("basic") ? "basic" : "bearer"
        schemes[scheme] = ["type": "http", "scheme": .init(.string(scheme))]
      case .secret: schemes[name] = ["type": "apiKey", "in": "header", "name": .init(.string(name))]
      }
    }
    return schemes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
