// FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/

/// A short digest that is the same in every process, so that names and stored states can be told apart by it. Not for
/// secrets.
package struct FNV1a {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package init(_ bytes: some Sequence<UInt8>) { add(bytes) }

    package mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
}
