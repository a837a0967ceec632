//! A simulated Company: router, desk (the rules), performer, store, defects.
