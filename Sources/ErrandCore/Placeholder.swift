// Errand
