"""What people look at: interactive pages, pictures for print, plots, and notebook output."""
