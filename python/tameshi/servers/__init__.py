"""Database servers: private instances made by Tameshi, and the user's own, which are only sampled.

One module per product (`mariadb`, `mysql`, `postgresql`, `sqlite`) with a common interface
(`product`); `private` runs an instance. Tameshi never touches the system's own instance.
`docs/servers.md` is the page. As root, servers run as their package's user.
"""
