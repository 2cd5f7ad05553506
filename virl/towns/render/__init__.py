"""Pictures of a made city, drawn from its plan.

`CityRenderer` is the door. Behind it: meshes of planar quads (`mesh`, `buildings`, `storefronts`,
`furniture`), textures drawn by procedure (`textures`, `facades`, `surfaces`), the ground
and the sky (`ground`, `backdrop`), and the compiled kernels that turn them into pixels (`raster`, `shade`,
`smooth`).
"""
