"""Real database servers: private instances that Tameshi makes, and the user's own, only sampled.

One file a product (`mariadb`, `mysql`, `postgresql`, `sqlite`) in one common shape (`shape`);
`private` runs an instance. The system's own instance is never touched. `docs/servers.md` is the
page. What runs as root starts servers as their package's user.
"""
