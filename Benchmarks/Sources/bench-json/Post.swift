import Foundation

/// A post of a social network: strings in several scripts, nested objects, many optional values.
struct Post: Codable {
  struct Author: Codable {
    let id: Int64
    let name: String
    let handle: String
    let about: String?
    let home: URL?
    let followers: Int
    let isVerified: Bool?
  }

  struct Tag: Codable {
    let text: String
    let range: [Int]
  }

  struct Entities: Codable {
    let tags: [Tag]
    let links: [Tag]?
    let media: [Tag]?
  }

  let id: Int64
  let text: String
  let language: String?
  let answerTo: Int64?
  let place: String?
  let author: Author
  let entities: Entities
  let likes: Int
  let isSensitive: Bool?
}

/// A map: one line with many points.
struct Map: Decodable {
  struct Feature: Decodable {
    let name: String
    let points: [[Double]]
  }

  let features: [Feature]
}
