/// The policy for a name that belongs to another source, or to a file that Imagemill did not write.
package enum CollisionPolicy: String, ParameterWord {
    case version, fail, overwrite
}
