"""Pictures of a made city, drawn from its plan.

`CityRenderer` is the door. Behind it: meshes of planar quads (`mesh`, `buildings`, `storefronts`,
`furniture`), textures drawn by procedure (`textures`, `facades`, `surfaces`), the ground
and the sky (`ground`, `backdrop`), and the compiled kernels that turn them into pixels (`raster`, `shade`,
`smooth`).
"""

LOOKS = 4
"""Version of the looks of views: it grows whenever the same place of a town is drawn differently.

1 is that of the runs whose start record names none.
"""
