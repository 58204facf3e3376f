"""Arrays that grow, maps and numbers of integers and rows, union-find: below all other rooms."""
