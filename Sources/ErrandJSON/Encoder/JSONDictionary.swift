/// Any dictionary.
protocol JSONDictionary {}

extension Dictionary: JSONDictionary {}
