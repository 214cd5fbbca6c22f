// Keeps accounts in the Keychain of Apple platforms. Empty elsewhere.
#if canImport(Security)
  import Errand
  import Foundation
  import Security

  struct KeychainFailure: Error {
    let status: OSStatus
    init(_ status: OSStatus) { self.status = status }
  }

  // snippet.keeper
  struct KeychainKeeper: CredentialKeeper {
    private var query: [CFString: Any] {
      [kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.shop", kSecAttrAccount: "accounts"]
    }

    func load() throws -> KeptAccounts? {
      var found: CFTypeRef?
      let status = SecItemCopyMatching(query.merging([kSecReturnData: true]) { $1 } as CFDictionary, &found)
      if status == errSecItemNotFound { return nil }
      guard status == errSecSuccess, let bytes = found as? Data else { throw KeychainFailure(status) }
      return try JSONDecoder().decode(KeptAccounts.self, from: bytes)
    }

    func save(_ accounts: KeptAccounts) throws {
      let removed = SecItemDelete(query as CFDictionary)
      guard removed == errSecSuccess || removed == errSecItemNotFound else { throw KeychainFailure(removed) }
      if accounts.credentials.isEmpty { return }
      let item = query.merging([
        kSecValueData: try JSONEncoder().encode(accounts),
        kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]) { $1 }
      let added = SecItemAdd(item as CFDictionary, nil)
      guard added == errSecSuccess else { throw KeychainFailure(added) }
    }
  }
// snippet.end
#endif
