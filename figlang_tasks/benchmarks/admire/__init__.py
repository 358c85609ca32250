"""AdMIRe: which picture shows what a compound means here?"""
