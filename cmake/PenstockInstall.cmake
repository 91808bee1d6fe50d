# include/penstock/, libpenstock, find_package(Penstock) and penstock.pc.
