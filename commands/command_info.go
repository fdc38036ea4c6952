package commands

var commandCommands = []Spec{}
