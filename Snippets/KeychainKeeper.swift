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
      if accounts.credentials.isEmpty {
        let removed = SecItemDelete(query as CFDictionary)
        guard removed == errSecSuccess || removed == errSecItemNotFound else { throw KeychainFailure(removed) }
        return
      }
      let content: [CFString: Any] = [
        kSecValueData: try JSONEncoder().encode(accounts),
        kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      var status = SecItemUpdate(query as CFDictionary, content as CFDictionary)
      if status == errSecItemNotFound {
        status = SecItemAdd(query.merging(content) { $1 } as CFDictionary, nil)
      }
      guard status == errSecSuccess else { throw KeychainFailure(status) }
    }
  }
// snippet.end
#endif
