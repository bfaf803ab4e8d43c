"""What is published, from where and to where: the files of a release, the protocols of sources and portals."""
