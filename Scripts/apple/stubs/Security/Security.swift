@_exported public import CoreFoundation
// The declarations of the Security framework that the sources use.

/// https://developer.apple.com/documentation/security/sectrust
public final class SecTrust {}
/// https://developer.apple.com/documentation/security/seccertificate
public final class SecCertificate {}
/// https://developer.apple.com/documentation/security/secidentity
public final class SecIdentity {}
/// https://developer.apple.com/documentation/security/secidentitygettypeid()
public func SecIdentityGetTypeID() -> CFTypeID { fatalError() }

/// https://developer.apple.com/documentation/security/errsecsuccess
public var errSecSuccess: OSStatus { 0 }
/// https://developer.apple.com/documentation/security/errsecparam
public var errSecParam: OSStatus { -50 }

/// https://developer.apple.com/documentation/security/seccertificatecreatewithdata(_:_:)
public func SecCertificateCreateWithData(_ allocator: AnyObject?, _ data: CFData) -> SecCertificate? { fatalError() }
/// https://developer.apple.com/documentation/security/seccertificatecopydata(_:)
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { fatalError() }
/// https://developer.apple.com/documentation/security/sectrustcopycertificatechain(_:)
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { fatalError() }
/// https://developer.apple.com/documentation/security/sectrustsetanchorcertificates(_:_:)
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ certificates: CFArray?) -> OSStatus { fatalError() }
/// https://developer.apple.com/documentation/security/sectrustsetanchorcertificatesonly(_:_:)
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ only: Bool) -> OSStatus { fatalError() }
/// https://developer.apple.com/documentation/security/sectrustevaluatewitherror(_:_:)
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
  fatalError()
}

/// https://developer.apple.com/documentation/security/ksecimportexportpassphrase
public let kSecImportExportPassphrase: CFString = ""
/// https://developer.apple.com/documentation/security/ksecimporttomemoryonly (macOS 15 and iOS 18)
public let kSecImportToMemoryOnly: CFString = ""
/// https://developer.apple.com/documentation/security/ksecimportitemidentity
public let kSecImportItemIdentity: CFString = ""
/// https://developer.apple.com/documentation/security/ksecimportitemcertchain
public let kSecImportItemCertChain: CFString = ""
/// https://developer.apple.com/documentation/security/secpkcs12import(_:_:_:)
@discardableResult
public func SecPKCS12Import(
  _ data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus { fatalError() }

/// https://developer.apple.com/documentation/security/errsecitemnotfound
public var errSecItemNotFound: OSStatus { -25300 }
/// https://developer.apple.com/documentation/security/ksecclass
public let kSecClass: CFString = ""
/// https://developer.apple.com/documentation/security/ksecclassgenericpassword
public let kSecClassGenericPassword: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattrservice
public let kSecAttrService: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattraccount
public let kSecAttrAccount: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattraccessible
public let kSecAttrAccessible: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattraccessibleafterfirstunlockthisdeviceonly
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = ""
/// https://developer.apple.com/documentation/security/ksecreturndata
public let kSecReturnData: CFString = ""
/// https://developer.apple.com/documentation/security/ksecvaluedata
public let kSecValueData: CFString = ""
/// https://developer.apple.com/documentation/security/secitemcopymatching(_:_:)
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  fatalError()
}
/// https://developer.apple.com/documentation/security/secitemadd(_:_:)
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  fatalError()
}
/// https://developer.apple.com/documentation/security/secitemupdate(_:_:)
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { fatalError() }
/// https://developer.apple.com/documentation/security/secitemdelete(_:)
@discardableResult public func SecItemDelete(_ query: CFDictionary) -> OSStatus { fatalError() }

/// https://developer.apple.com/documentation/security/tls_protocol_version_t
public enum tls_protocol_version_t: UInt16, @unchecked Sendable {
  case TLSv12 = 0x0303
  case TLSv13 = 0x0304
}
