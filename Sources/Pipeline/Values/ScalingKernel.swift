// The curves of scaling, as pipelines name them.
package import Kernels

extension ScalingKernel: ParameterWord {}
