"""HumorDB: is a picture funny, how funny, and funnier than another?"""
