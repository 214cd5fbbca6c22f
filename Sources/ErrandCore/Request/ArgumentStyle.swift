/// How arguments are written as text, if a query, a form body or JSON allows several ways.
public struct ArgumentStyle: Sendable, Hashable {
  /// How a list of values is written in a query or a form body.
  public enum Arrays: Sendable, Hashable {
    /// The name is repeated for each value: `a=1&a=2`.
    case repeated
    /// Empty brackets follow the name: `a[]=1&a[]=2`.
    case brackets
    /// The index of each value follows the name: `a[0]=1&a[1]=2`.
    case indexed
    /// Commas join the values: `a=1,2`. A comma inside a value is escaped. An empty list writes nothing.
    case commas
  }

  /// How an object, which contains named values, is written in a query or a form body.
  public enum Objects: Sendable, Hashable {
    /// The name of a member is in brackets: `a[b]=1`.
    case brackets
    /// A dot precedes the name of a member: `a.b=1`.
    case dots
  }

  /// How Boolean values are written in a query or a form body. JSON always has `true` and `false`.
  public enum Booleans: Sendable, Hashable {
    /// A Boolean value is written as the word `true` or `false`.
    case words
    /// A Boolean value is written as the digit `1` or `0`.
    case digits
  }

  /// How dates are written in a query or a form body, and in JSON if ``Formats/jsonEncoding`` has no date strategy.
  public enum Dates: Sendable, Hashable {
    /// A date is written in the format of RFC 3339, such as `2026-01-31T12:00:00Z`. If the date has a fraction of a
    /// second, the text has milliseconds. The format has only the years 0 to 9999; a call with another date fails.
    case iso8601
    /// A date is written as the number of whole seconds since 1970.
    case seconds
    /// A date is written as the number of whole milliseconds since 1970.
    case milliseconds
  }

  /// How the value null is written in a query or a form body.
  public enum Nulls: Sendable, Hashable {
    /// Null is written as the name with an empty value: `a=`.
    case empty
    /// An argument with the value null is left out.
    case omitted
    /// Null is written as the word null: `a=null`.
    case word
  }

  /// How a space is written in a query. In a form body, a space is always `+`.
  public enum Spaces: Sendable, Hashable {
    /// A space is written as the percent-escape `%20`.
    case percent
    /// A space is written as a plus sign, `+`.
    case plus
  }

  /// True if the style of the request's ``RequestFamily`` or of the client applies. A change of any property sets this
  /// flag to false.
  private(set) var isInherited = false

  /// How a list of values is written: with a repeated name by default.
  public var arrays: Arrays { didSet { isInherited = false } }
  /// How an object is written: with the names of its members in brackets by default.
  public var objects: Objects { didSet { isInherited = false } }
  /// How Boolean values are written: as words by default.
  public var booleans: Booleans { didSet { isInherited = false } }
  /// How dates are written: in the format of RFC 3339 by default.
  public var dates: Dates { didSet { isInherited = false } }
  /// How null is written: as an empty value by default.
  public var nulls: Nulls { didSet { isInherited = false } }
  /// How spaces are written in a query: as `%20` by default.
  public var spaces: Spaces { didSet { isInherited = false } }

  /// Makes a style for arguments. A parameter that is not given has its default.
  public init(
    arrays: Arrays = .repeated, objects: Objects = .brackets, booleans: Booleans = .words, dates: Dates = .iso8601,
    nulls: Nulls = .empty, spaces: Spaces = .percent
  ) {
    self.arrays = arrays
    self.objects = objects
    self.booleans = booleans
    self.dates = dates
    self.nulls = nulls
    self.spaces = spaces
  }

  /// The style of the request's ``RequestFamily``, or of the client if the family has none.
  public static let inherited = {
    var style = ArgumentStyle()
    style.isInherited = true
    return style
  }()

  /// Returns `other` if this style is inherited and `other` is not nil; otherwise returns this style.
  func filled(by other: ArgumentStyle?) -> ArgumentStyle { isInherited ? other ?? self : self }
}
