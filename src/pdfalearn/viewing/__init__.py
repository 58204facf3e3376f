"""What people look at: pictures for print, plots, and what notebooks show."""
